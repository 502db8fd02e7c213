"""The event loop that all work shares: how long it is held up, and how work gives way."""
