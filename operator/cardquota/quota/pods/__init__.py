"""One pod: what is kept of it, what it asks for, and its state (P1-P8).

In: a pod from the API server. Out: `PodFacts` (read once, bounded), `PodRequest` (the cards it may
use and how many, for a given quota), `PodRecord` (what the ledger holds of it).
"""
