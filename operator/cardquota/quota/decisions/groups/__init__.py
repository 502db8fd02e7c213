"""Decisions on groups: enqueued (E1), started whole (E2), refused when written (E5)."""
