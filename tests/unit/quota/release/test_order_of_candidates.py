"""E6: who goes first within a queue."""
