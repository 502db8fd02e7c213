"""The documents as a site: `make docs`.

mkdocs builds it from `docs/`, by `mkdocs.yml`. The `hooks` add what the pages link to and is
elsewhere in the checkout, so that each text has one source, and each link works in both places.
"""
