"""Admission: what the API server asks before it stores an object.

In: reviews over HTTPS, and a `LedgerReader` that is asked and never charged. Out: an answer to each
within a bounded time: allowed, changed (a gate), warned or denied with the numbers.
"""
