"""Building the control plane's binaries into the cache: only what is missing, counted as it goes.

In: the Go module of `dev/controlplane`. Out: a folder of binaries for its versions and flags.
"""
