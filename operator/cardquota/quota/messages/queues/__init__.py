"""Queues, in sentences."""
