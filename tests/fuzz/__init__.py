"""Malformed, odd and oversized input for everything that reads what users write."""
