"""The clients of a run: they create, scale, edit and delete, each from its own seed."""
