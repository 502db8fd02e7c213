"""Which plugins of the past a configuration of Volcano's scheduler names."""

import pytest

from cardquota.cli.check.leftovers.scheduler_plugins import old_plugins

CONFIGURATION = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: capacity-card
    arguments: {cardUnlimitedCpuMemory: true}
  - name: proportion
"""


def test_those_that_do_not_go_with_quotas_per_card() -> None:
    assert old_plugins([CONFIGURATION]) == ("capacity-card", "proportion")
    assert old_plugins(["", CONFIGURATION.replace("capacity-card", "capacity")]) == ("proportion",)
    assert old_plugins([]) == ()


@pytest.mark.parametrize(
    "text",
    [
        *("", "7", "[]", "tiers: 7", "tiers: [7]", "tiers: [{plugins: 7}]", "a: {", "\x00"),
        "tiers: [{plugins: [7, {name: 7}, {name: [capacity-card]}]}]",
        "[" * 5_000,
        f"tiers: [{{plugins: [{{name: capacity-card}}]}}] # {'x' * 70_000}",
        f"day: 2026-99-99\n{CONFIGURATION}",
    ],
)
def test_what_cannot_be_read_names_none(text: str) -> None:
    assert old_plugins([text]) == ()


def test_p8_references_do_not_multiply() -> None:
    """Few characters that mean a hundred million plugins."""
    plugins = ", ".join(["{name: x}"] * 1_000)
    text = f"a: &a {{plugins: [{plugins}]}}\ntiers: [{', '.join(['*a'] * 1_000)}]"
    assert old_plugins([text]) == ()
