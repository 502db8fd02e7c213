"""That the numbers of queues are old, where nobody leads."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from cardquota.cli import leader as read_leases

from ..answering_api import FORBIDDEN, LEASE, NOT_SERVED, Answer, a_list, answering, called, led
from .test_top import PATH, queue

OLD = "no replica leads, so no gate opens; the numbers of queues are 3 min old"
NEVER = "no operator has run here, so no gate opens; the numbers of queues are of when one led"
NOT_KNOWN = "it is not known whether a replica leads; otherwise these numbers are old: "


@pytest.mark.parametrize(
    ("lease", "says"),
    [
        (led, ""),
        (partial(led, 185), OLD),
        (partial(led, 185, holder=""), OLD),
        (lambda: NOT_SERVED, NEVER),
        (lambda: FORBIDDEN, NOT_KNOWN + "you may not read the operator's Lease"),
        (lambda: (500, "{}"), NOT_KNOWN),
    ],
)
async def test_top_says_how_old_its_numbers_are(
    lease: Callable[[], Answer], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_leases, "PATIENCE", 0.0)
    answers = {PATH: a_list(queue("q")), LEASE: lease()}
    async with answering(answers, tmp_path) as config:
        text = await called(config, "top")
        data = await called(config, "top", "-o", "json")
    notes = json.loads(data.stdout)["notes"]
    told = [one for one in notes if any(text in one for text in (OLD, NEVER, NOT_KNOWN))]
    if says:
        assert f"note: {told[0]}" in text.stdout
        assert says in told[0]
    else:
        assert told == []
        assert not any(one in text.stdout for one in (OLD, NEVER, NOT_KNOWN))
