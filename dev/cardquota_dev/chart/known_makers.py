"""What the chart knows of the built-in makers of cards, as a template with JSON.

Rows that users add come before them, and take the place of one with the same prefix and type.
"""

import json
from collections.abc import Sequence

from cardquota.install.scheduler_configuration import managed_resources
from cardquota.settings import Settings


def known_makers() -> str:
    """The template: `cardquota.knownMakers`, and the resource names that belong to no row."""
    settings = Settings.model_construct()
    rows = [
        {
            "usual": row.usual,
            "pattern": row.pattern(),
            "resources": [row.usual, row.shared, *row.others],
        }
        for row in settings.vendor_table
    ]
    of_rows = {name for row in rows for name in row["resources"]}
    others = [name for name in managed_resources(settings) if name not in of_rows]
    return _define("cardquota.knownMakers", rows) + _define("cardquota.otherResources", others)


def _define(name: str, values: Sequence[object]) -> str:
    lines = ",\n".join(json.dumps(value) for value in values)
    return f'{{{{- define "{name}" }}}}\n[{lines}]\n{{{{- end }}}}\n'
