"""Does a request fit its queue's quota, on which card, and what is said if not? (E2, E7)"""
