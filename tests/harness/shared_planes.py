"""The planes that many tests share, and which tests those are."""

from collections.abc import Mapping
from typing import Final

import pytest

_SHARED: Final[Mapping[str, str]] = {
    "tests/conformance/test_on_plane.py": "product_plane",
    "tests/integration/admission/test_labelled_namespaces.py": "labelled_plane",
    "tests/integration/admission/": "product_plane",
    "tests/integration/chart/test_users_chart.py": "product_plane",
    "tests/integration/cli/": "product_plane",
    "tests/integration/dev/test_product.py": "product_plane",
    "tests/integration/page/": "product_plane",
    "tests/integration/release/": "product_plane",
    "tests/integration/samples/": "product_plane",
    "tests/integration/scaling/": "product_plane again",
    "tests/integration/status/": "product_plane again",
    "tests/integration/tools/test_tools.py": "product_plane again",
    "tests/integration/ways_round/": "product_plane again",
    "tests/integration/process/test_check.py": "bare_plane",
    "tests/integration/process/test_flow.py": "bare_plane",
    "tests/integration/process/test_installation.py": "bare_plane",
    "tests/integration/process/test_queue_definition.py": "bare_plane",
    "tests/integration/process/test_volcano_ends_pods.py": "bare_plane",
    "tests/integration/api/": "plane",
    "tests/integration/cluster/": "plane",
    "tests/integration/dev/test_plane.py": "plane",
    "tests/integration/image/": "images",
    "tests/integration/leader/": "plane",
    "tests/integration/node/": "plane",
    "tests/integration/release_files/": "plane",
    "tests/integration/scheduler/": "plane",
    "tests/integration/chart/test_walk_through.py": "release",
    "tests/integration/extender/": "extender_plane",
    "tests/integration/install/": "stage",
    "tests/integration/volcano/test_enqueueing.py": "asked_by_volcano",
    "tests/integration/volcano/": "beside_volcano",
}
"""By folder or file, since whoever distributes tests among workers sees their names alone: the
fixture, and a word more where another worker starts it once more. The longest come first.
"""
_ORDER: Final = tuple(dict.fromkeys(_SHARED.values()))


def by_name(nodeid: str) -> str | None:
    """What a worker takes together with all others of the name; None for a test without."""
    return next((plane for path, plane in _SHARED.items() if nodeid.startswith(path)), None)


def turn_of(nodeid: str) -> int:
    """Tests are run in this order."""
    plane = by_name(nodeid)
    return len(_ORDER) if plane is None else _ORDER.index(plane)


def by_fixtures(item: pytest.Item) -> str | None:
    """The fixture of the shared plane that a test does use, if it is one that any test may use."""
    # A parameter of the same name is no fixture of ours.
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    used = set(getattr(item, "fixturenames", ())) - set(parameters)
    for plane in ("extender_plane", "product_plane"):
        if plane in used:
            return plane
    return "plane" if used & {"plane", "namespace"} else None
