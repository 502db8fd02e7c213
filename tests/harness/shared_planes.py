"""The planes that many tests share, and which tests those are."""

import pytest

_SHARED = {
    "tests/integration/admission/": "product_plane",
    "tests/integration/cli/": "product_plane",
    "tests/integration/release/": "product_plane",
    "tests/integration/samples/": "product_plane",
    "tests/integration/scaling/": "product_plane",
    "tests/integration/status/": "product_plane",
    "tests/integration/ways_round/": "product_plane",
    "tests/conformance/test_on_plane.py": "product_plane",
    "tests/integration/dev/test_autoscaling.py": "product_plane",
    "tests/integration/dev/test_product.py": "product_plane",
    "tests/integration/extender/": "extender_plane",
    "tests/integration/api/": "plane",
    "tests/integration/cluster/": "plane",
    "tests/integration/dev/test_plane.py": "plane",
    "tests/integration/leader/": "plane",
    "tests/integration/scheduler/": "plane",
    "tests/integration/install/": "stage",
    "tests/integration/volcano/test_enqueueing.py": "asked_by_volcano",
    "tests/integration/volcano/": "beside_volcano",
}
"""By folder or file: whoever distributes tests among workers sees their names alone."""


def by_name(nodeid: str) -> str | None:
    """The fixture of the shared plane that a test may use, by where the test stands."""
    return next((plane for path, plane in _SHARED.items() if nodeid.startswith(path)), None)


def by_fixtures(item: pytest.Item) -> str | None:
    """The fixture of the shared plane that a test does use, if it is one that any test may use."""
    # A parameter of the same name is no fixture of ours.
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    used = set(getattr(item, "fixturenames", ())) - set(parameters)
    for plane in ("extender_plane", "product_plane"):
        if plane in used:
            return plane
    return "plane" if used & {"plane", "namespace"} else None
