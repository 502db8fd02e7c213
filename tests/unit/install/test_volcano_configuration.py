"""Which actions of Volcano's scheduler end pods, from its ConfigMap (L6)."""

from typing import Any

import pytest

from cardquota.install.volcano_configuration import two_that_end_pods
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.reclaim_settings import Reclaim
from cardquota.settings import Settings, Volcano

BESIDE = Settings(
    scheduler="volcano",
    reclaim=Reclaim(mode=ReclaimMode.ON),
    volcano=Volcano(configuration="batch/volcano-conf"),
)
LONG = "actions: reclaim\n#" + 65_536 * "x"


def config_map(*texts: object) -> dict[str, Any]:
    return {"data": {f"volcano-{number}.conf": text for number, text in enumerate(texts)}}


@pytest.mark.parametrize(
    ("stored", "named"),
    [
        (config_map('actions: "enqueue, allocate, reclaim, backfill"'), "by <reclaim> among"),
        (config_map('actions: "preempt,allocate"'), "by <preempt> among"),
        (config_map("actions: reclaim, preempt"), "by <preempt> and <reclaim> among"),
        # Which of them Volcano reads is said on its command line.
        (config_map("actions: enqueue", "actions: reclaim"), "by <reclaim> among"),
    ],
)
def test_l6_an_action_that_ends_pods_is_named(stored: object, named: str) -> None:
    found = two_that_end_pods(stored, BESIDE)
    assert found is not None
    why, advice = found
    assert f"{named} the actions in ConfigMap <batch/volcano-conf>" in why
    for way in ("take it out", "`reclaim: off`", "`reclaim.besideVolcano: true`"):
        assert way in advice


@pytest.mark.parametrize(
    "stored",
    [
        config_map('actions: "enqueue, allocate, backfill"'),
        config_map("actions: reclaimable, my-preempt"),
        config_map("configurations: [{name: reclaim}]"),
        config_map("actions: [reclaim]"),
        config_map("{", "3", "", "- a", 3, None, LONG, "[" * 2000),
        config_map(),
        {"data": 3},
        {},
        [],
        None,
    ],
)
def test_l6_where_none_is_named_nothing_is_said(stored: object) -> None:
    """What Volcano could not read is none."""
    assert two_that_end_pods(stored, BESIDE) is None


@pytest.mark.parametrize(
    "settings",
    [
        BESIDE.model_copy(update={"scheduler": "standalone"}),
        BESIDE.model_copy(update={"reclaim": Reclaim()}),
        BESIDE.model_copy(update={"reclaim": Reclaim(mode=ReclaimMode.ON, beside_volcano=True)}),
    ],
    ids=["without Volcano", "off", "both are wanted"],
)
def test_l6_where_it_is_all_one_nothing_is_said(settings: Settings) -> None:
    assert two_that_end_pods(config_map("actions: reclaim"), settings) is None
