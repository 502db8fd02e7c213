"""What an administrator applies, in part."""

from typing import Any

import yaml

from cardquota.install import documents
from cardquota.install.manifests import text
from cardquota.settings import Settings


def render_policies(settings: Settings) -> str:
    """What needs no webhook: policies and bindings."""
    return text([one for one in documents(settings) if "webhooks" not in one])


def parsed(text: str) -> list[dict[str, Any]]:
    """The documents of a YAML text."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return list(yaml.load_all(text, loader))
