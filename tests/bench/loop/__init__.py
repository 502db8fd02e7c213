"""How long anything holds up the event loop, and how long a replica takes to be there."""
