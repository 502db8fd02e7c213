"""Benchmarks: ratios taken in one run, no tests. `make bench`, or `python -m bench NAME...`."""
