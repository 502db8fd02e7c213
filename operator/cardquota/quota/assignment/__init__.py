"""Whether claims with a choice of cards fit together: exact assignment (T3).

In: claims (the usable cards, and an amount) and the room of each card. Out: whether there is a card
for each claim, and which. Knows neither pods nor queues.
"""
