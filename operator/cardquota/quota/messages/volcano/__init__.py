"""Volcano beside us and its Jobs, in sentences."""
