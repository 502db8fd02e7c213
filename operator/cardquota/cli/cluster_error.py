"""The error of a cluster that has not answered: of its own, so that a command starts fast."""


class ClusterError(Exception):
    """The cluster did not answer the request. The text is one line for the user."""
