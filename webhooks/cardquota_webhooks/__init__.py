"""The admission webhooks: mutate, validate, and the HTTPS server."""
