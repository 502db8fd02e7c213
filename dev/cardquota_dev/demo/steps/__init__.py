"""The steps of the demo: each a function with its own text, commands and expectations.

In: a `Context` (users and the screen). Out: `STEPS`, in the order in which they are shown.
"""
