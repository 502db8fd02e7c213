"""The domain: cards, requests, the ledger and its verdicts. Pure: no I/O, no clock, no event loop.

Nothing in this package imports anything else of ours. Amounts are whole numbers everywhere: cards,
milli-cores and bytes. The rooms, of which each imports only those below it:

    release, reports > decisions > ledger > pending > nodes > pods > selectors, assignment
    > cards > objects > words, limits, quantities, messages and the verdict, beside this file
"""
