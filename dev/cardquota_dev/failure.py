"""The one error that people see."""


class PlaneError(Exception):
    """Something that the caller can act on; the text says what, in a sentence."""
