"""Whether all objects of some kinds are known, for sections that need them all."""

from collections.abc import Collection

from .checked_cluster import CheckedCluster


def not_known(read: CheckedCluster, kinds: Collection[str]) -> list[str]:
    """Those of these kinds of which not all could be listed and read, sorted. Where a namespace is
    asked for, what is in it is all.
    """
    lacking = read.unread.keys() | read.unreadable_kinds
    if not read.namespace:
        lacking |= read.partly
    return sorted(lacking & set(kinds))
