"""What an administrator applies, in part."""

from cardquota.install import documents
from cardquota.install.manifests import text
from cardquota.settings import Settings


def render_policies(settings: Settings) -> str:
    """What needs no webhook: policies and bindings."""
    return text([one for one in documents(settings) if "webhooks" not in one])
