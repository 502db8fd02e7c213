"""Whoever keeps something by node is told which nodes it must look at again."""


class StaleNames:
    """Sets of names, one for each who asked. Costs nothing as long as nobody has asked."""

    __slots__ = ("_sets",)

    def __init__(self) -> None:
        self._sets: list[set[str]] = []

    def follow(self) -> set[str]:
        """A set into which each name is put that changes from now on. Its owner takes them out."""
        names = set[str]()
        self._sets.append(names)
        return names

    def leave(self, names: set[str]) -> None:
        """The inverse of `follow`."""
        self._sets = [one for one in self._sets if one is not names]

    @property
    def followers(self) -> int:
        """How many follow."""
        return len(self._sets)

    def add(self, name: str) -> None:
        """Something of this name has changed."""
        for names in self._sets:
            names.add(name)
