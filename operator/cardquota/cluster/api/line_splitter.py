"""Lines from a stream of bytes that is split anywhere."""


class LineSplitter:
    """Collects chunks and returns whole lines, without their ends.

    Guarantees: empty lines are left out; a line of any length costs time linear in it. What follows
    the last line end is never returned: it may be half an object.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, in order."""
        if b"\n" not in chunk:
            if chunk:
                self._parts.append(chunk)
            return []
        whole = b"".join((*self._parts, chunk))
        *lines, rest = whole.split(b"\n")
        self._parts = [rest] if rest else []
        return [line for line in lines if line and not line.isspace()]
