"""The leader's writes: fenced by its term, and settled where nobody knows whether they landed."""
