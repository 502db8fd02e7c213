"""The generated pages `docs/settings.md` and `docs/reference.md`.

They have what the product declares: settings, makers of cards, keys and metrics. What each means is
its docstring, or the help of the metric: there it is written, once.
"""
