"""The scheduler extender's door: calls that nobody meant, while pods, nodes and lists change."""
