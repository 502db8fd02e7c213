"""Nodes, in sentences: why a pod does not go to one, and is not bound."""
