"""Pod groups at the gate: enqueued, started whole, given up in time, and what is written on them.

In: what was decided on a group, and charged. Out: its reservation, phase and condition as the API
server has them, and gates that open together.
"""
