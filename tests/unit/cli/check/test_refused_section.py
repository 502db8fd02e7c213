"""V1: `check` says that somebody is refused what only Volcano may do, and what to set."""

import json
from pathlib import Path

from msgspec import to_builtins
from msgspec.structs import replace

from builders import a_ledger
from cardquota.cli.check import CheckSection
from cardquota.cli.check.usage_sections import refused_section
from cardquota.cli.output import ClusterChoice
from cardquota.cli.reading import client_of
from cardquota.quota import to_its_end
from cardquota.quota.answers import queue_answer
from cardquota.settings import Settings

from ..answering_api import Answer, answering

REVIEWS = "/apis/cardquota.volcano.sh/v1alpha1/queuereviews"
BESIDE_VOLCANO = Settings(scheduler="volcano")


async def section(answer: Answer, folder: Path, settings: Settings) -> CheckSection:
    async with (
        answering({}, folder, posted={REVIEWS: answer}) as config,
        client_of(ClusterChoice(config)) as client,
    ):
        return await refused_section(client, settings)


def counted(writes: int) -> Answer:
    found = to_its_end(queue_answer(a_ledger(), "", limit=1, time="2026-01-01T00:00:00Z"))
    assert found is not None
    found = replace(found, refused_writes=writes)
    return 201, json.dumps({"status": to_builtins(found)})


async def test_the_number_is_told_and_the_setting(tmp_path: Path) -> None:
    found = await section(counted(12), tmp_path, BESIDE_VOLCANO)
    (one,) = found.findings
    assert (one.finding, one.kind, one.name, one.reason) == (
        *("refused", "Deployment", "cardquota", "VolcanoNotKnown"),
    )
    assert one.why.startswith("12 writes of Bindings, or of groups of pods, refused to users")
    assert "volcano.accounts" in one.advice


async def test_where_nobody_is_refused_or_counts_nothing_is_said(tmp_path: Path) -> None:
    assert await section(counted(0), tmp_path, BESIDE_VOLCANO) == CheckSection("refused")
    assert await section(counted(12), tmp_path, Settings()) == CheckSection("refused")


async def test_who_may_not_ask_is_told_what_he_misses(tmp_path: Path) -> None:
    forbidden = (403, '{"code": 403, "reason": "Forbidden", "message": "cannot create them"}')
    found = await section(forbidden, tmp_path, BESIDE_VOLCANO)
    (note,) = found.notes
    assert note.endswith("it is not known whether Bindings are refused")
    assert (found.findings, found.complete) == ([], True)
