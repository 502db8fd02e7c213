"""The generated pages `docs/settings.md`, `docs/reference.md` and `docs/versions.md`.

They have what the product declares: settings, makers of cards, keys and metrics. What each means is
its docstring, or the help of the metric: there it is written, once.
"""
