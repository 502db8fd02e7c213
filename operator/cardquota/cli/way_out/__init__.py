"""The way out: `pause`, `resume`, `uninstall`, and what they know of the product's objects (U1-U7).

In: a cluster, with an administrator's rights. Out: a list of changes, made or, as a dry run, shown.
"""

from .product_objects import DEFINITIONS, TERM_DEFINITION
