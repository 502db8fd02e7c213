"""The objects that benchmarks send and store."""
