"""Who gives cards back, and for whom (section 16). Pure questions to the ledger: nothing is charged or
ended here.
"""
