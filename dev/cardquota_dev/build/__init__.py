"""Builds missing binaries into the cache, with a count of packages.

In: a `BinarySet` of a Go module in `dev/controlplane` or `dev/containerd`. Out: a folder of its
binaries for the module's versions and flags.
"""
