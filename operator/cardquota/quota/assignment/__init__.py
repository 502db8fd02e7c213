"""Whether claims with a choice of cards fit together: exact assignment (T3).

In: claims (cards that may be used, and an amount) and how much room each card has. Out: whether
there is a card for each, and which. Knows neither pods nor queues.
"""
