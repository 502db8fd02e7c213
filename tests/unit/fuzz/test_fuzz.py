"""The short form of `make fuzz`: all but time and memory, which a busy machine distorts."""

from itertools import islice
from time import thread_time
from typing import Any

import pytest

from builders import H200
from cardquota.quota import Outcome, Verdict
from cardquota.quota.ledger import Ledger
from cardquota.quota.pending import Candidate
from cardquota.quota.pods import PodRecord
from cardquota.quota.release import Opening, ReleaseJudge, Wait
from fuzz.inputs import Inputs
from fuzz.product import FuzzedProduct
from fuzz.run import fuzz


async def test_nothing_that_is_sent_is_too_much() -> None:
    found = await fuzz(2_500, 1, large=0.0, timed=False)
    assert not found.counted, found.text()
    assert found.inputs == 2_500
    # It is not all refused at the first look.
    assert min(found.answers["200"], found.answers["denied"], found.answers["400"]) > 100
    assert min(found.paths.values()) > 0


def test_the_same_seed_gives_the_same_inputs() -> None:
    first, again, other = (list(islice(Inputs(seed), 40)) for seed in (5, 5, 6))
    alone = Inputs(5)
    assert first == again == [alone.numbered(number) for number in range(40)]
    assert first != other
    assert {given.watch for given in first} == {True, False}


async def test_an_error_is_found_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:

    def broken(*_: object, **__: object) -> Any:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("cardquota_webhooks.pods.judge_create", broken)
        assert (await fuzz(200, 1, large=0.0, timed=False)).counted["bug"]
    with monkeypatch.context() as patch:
        patch.setattr("cardquota.quota.ledger.ledger.Ledger.group_seen", broken)
        assert (await fuzz(200, 1, large=0.0, timed=False)).counted["exception"]
    with monkeypatch.context() as patch:
        patch.setattr(FuzzedProduct, "decide", broken)
        assert (await fuzz(200, 1, large=0.0, timed=False)).counted["exception"]
    with monkeypatch.context() as patch:
        patch.setattr(FuzzedProduct, "differences", lambda _: {("queue", "card"): (1, 2)})
        assert (await fuzz(200, 1, large=0.0, timed=False)).counted["drift"]


async def test_a_gate_that_opens_beyond_the_quota_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fits(ledger: Ledger, record: PodRecord) -> Verdict:
        cards = ((H200, record.request.amount),) if record.request else ()
        return Verdict(Outcome.FITS, record.queue, cards=cards)

    monkeypatch.setattr("cardquota.quota.release.release_judge.judge_release", fits)
    assert (await fuzz(1_000, 1, large=0.0, timed=False)).counted["over"]


async def test_a_leader_that_holds_up_the_loop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = ReleaseJudge.judge

    def slow(self: ReleaseJudge, candidate: Candidate) -> Opening | Wait:
        begun = thread_time()
        while thread_time() - begun < 0.12:
            pass
        return judge(self, candidate)

    monkeypatch.setattr(ReleaseJudge, "judge", slow)
    assert (await fuzz(60, 1, large=0.0)).counted["slow"]


async def test_a_leader_that_starts_no_gang_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gang", "announced", "announced_members"):
        monkeypatch.setattr(f"fuzz.seeds.{name}", lambda _: [])
    assert (await fuzz(2_000, 1, large=0.0, timed=False)).counted["unreached"]
