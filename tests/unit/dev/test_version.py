"""The version stands in one place; everything else gets it from there."""

import re

from cardquota import __version__
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.version import main, versioned


def test_all_places_say_it() -> None:
    assert main(["--check"]) == 0


def test_another_one_reaches_every_place() -> None:
    for path, text in versioned("12.0.3-rc.1").items():
        was = path.read_text("utf-8")
        assert text.replace("12.0.3-rc.1", __version__) == was
        assert text != was


def test_nothing_that_is_applied_says_another() -> None:
    files = [*CHECKOUT.glob("manifests/**/*.yaml"), *CHECKOUT.glob("charts/**/Chart.yaml")]
    assert len(files) > 20
    known = versioned()
    for path in files:
        if path not in known:
            assert not re.search(r"image: cardquota(-node)?:", path.read_text("utf-8")), path
