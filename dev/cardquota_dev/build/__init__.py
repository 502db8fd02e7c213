"""Builds the missing binaries of the control plane into the cache, with a count of packages.

In: the Go module of `dev/controlplane`. Out: a folder of binaries for its versions and flags.
"""
