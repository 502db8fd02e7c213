"""Workloads: what makes the pods, how many it wants, and from which template.

Nothing is charged here: what a queue has room for follows from pods alone.
"""
