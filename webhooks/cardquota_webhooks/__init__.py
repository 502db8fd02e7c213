"""The admission door: mutate, validate, and the HTTPS server."""
