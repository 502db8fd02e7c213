"""Questions to the ledger: may this pod, this gang, this change be let by? (section 7)

In: the ledger and what is asked about. Out: a `Verdict` with its numbers, or how many would fit.
Charges nothing and changes nothing: the same question has the same answer.
"""
