"""The one error that users see."""


class PlaneError(Exception):
    """A fault that the caller can correct. The text names it in one sentence."""
