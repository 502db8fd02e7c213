"""Who gives cards back, and for whom (section 17). Pure questions to the ledger: nothing is charged
or ended here.
"""
