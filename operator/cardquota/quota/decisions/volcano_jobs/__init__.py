"""Decisions on Jobs of Volcano when they are written: can they ever run, how much fits now (V4)."""
