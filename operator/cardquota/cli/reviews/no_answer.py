"""The error of a question that has no answer."""


class NoAnswerError(Exception):
    """The operator, or the API server, has not answered. The text is one line for the user."""
