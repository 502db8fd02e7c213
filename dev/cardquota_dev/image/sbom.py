"""What is in an image, as a CycloneDX document (a software bill of materials).

Each part has a package URL, by which databases of vulnerabilities know it.
"""

import json
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .part import DEBIAN, Part


def write_bill(name: str, digest: str, parts: Iterable[Part], moment: int, file: Path) -> None:
    """Write the document. `name` and `digest` are the image's, `moment` its time."""
    repository, _, tag = name.partition(":")
    image = f"pkg:oci/{repository}@{quote(digest, safe='')}?tag={tag}"
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, image).urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(moment, UTC).isoformat(),
            "component": {
                "type": "container",
                "bom-ref": image,
                "name": repository,
                "version": tag,
                "purl": image,
            },
        },
        "components": [_component(part) for part in parts],
    }
    file.write_text(json.dumps(document, indent=1) + "\n")


def _component(part: Part) -> dict[str, Any]:
    path = f"debian/{part.name}" if part.kind == DEBIAN else part.name
    url = f"pkg:{part.kind}/{path}@{quote(part.version)}"
    if part.kind == DEBIAN:
        url += "?distro=debian-12"
    return {
        "type": "library",
        "bom-ref": url,
        "name": part.name,
        "version": part.version,
        "purl": url,
        "hashes": [{"alg": "SHA-256", "content": part.sha256}],
    }
