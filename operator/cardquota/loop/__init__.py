"""The event loop that everything shares: how long it is held up, and how work gives way."""
