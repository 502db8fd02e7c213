"""The product with one safeguard taken out: a run must find it, and says so if it could not."""
