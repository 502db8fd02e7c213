"""Questions to the ledger: may this pod, gang or change be let through? (section 7)

In: the ledger and the subject. Out: a `Verdict` with its numbers, or how many would fit. Charges
and changes nothing: the same question has the same answer.
"""
