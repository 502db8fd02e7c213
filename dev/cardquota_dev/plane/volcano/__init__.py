"""A stand-in for Volcano: what it does to the API server, as far as a card quota meets it.

Volcano itself is on no package registry. This does what was seen of it, and is also an oracle: it
has no code of the product, so that both do not err together. In: a plane that answers, a namespace.
Out: three processes, `volcano-scheduler`, `volcano-controllers` and `volcano-admission`, each with
a service account of that name. Not done: preemption, reclaiming, hierarchical queues, plugins of
jobs, policies of tasks, network topologies, and whatever else is not named in this room.
"""
