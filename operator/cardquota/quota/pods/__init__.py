"""One pod: what is kept of it, what it asks for, and how it stands (P1-P8).

In: a pod as the API server has it. Out: `PodFacts` (read once, bounded), `PodRequest` (the cards it
may use and how many, in view of a quota), `PodRecord` (what the ledger holds of it).
"""
