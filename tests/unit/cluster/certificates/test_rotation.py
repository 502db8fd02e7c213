"""The phases of a rotation, one step at a time: what is written, and what is never taken away."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509

from cardquota.cluster.certificates import (
    NO_PAIR,
    Holding,
    KeyPair,
    Lifetimes,
    next_step,
    read_certificates,
    trusted_through,
    why_unusable,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = ["hook.system.svc"]
DAY = timedelta(days=1)
LIVES = Lifetimes(serving=90 * DAY, authority=3650 * DAY, margin=30 * DAY)


class RotationSteps:
    """The Secret, a clock, and whether a next CA counts as known."""

    def __init__(self) -> None:
        self.now = NOW
        self.held = Holding()
        self.known = False
        self.step()

    def step(self, served: Holding | None = None, names: list[str] = NAMES) -> str:
        """Take the next step; what it was, or nothing."""
        step = next_step(
            self.held,
            served,
            names,
            now=self.now,
            lifetimes=LIVES,
            is_trusted=lambda _: self.known,
        )
        if step is None:
            return ""
        self.held = step.holding
        return step.what

    @property
    def authorities(self) -> list[x509.Certificate]:
        return read_certificates(self.held.bundle)


def vouched_for(serving: KeyPair, by: Holding) -> bool:
    """Whether whoever trusts the bundle trusts this certificate."""
    return bool(trusted_through(read_certificates(serving.cert_pem), read_certificates(by.bundle)))


def test_nothing_is_done_until_the_margin() -> None:
    shelf = RotationSteps()
    shelf.now += 59 * DAY
    assert shelf.step() == ""
    before = shelf.held
    shelf.now += 2 * DAY
    assert "new serving certificate" in shelf.step()
    assert shelf.held.bundle == before.bundle, "the authority stays"
    assert shelf.held.serving != before.serving
    assert shelf.step() == ""


def test_other_names_are_covered_at_once_and_fewer_need_nothing() -> None:
    shelf = RotationSteps()
    assert "does not cover new" in shelf.step(names=[*NAMES, "new"])
    assert shelf.step() == ""


def test_the_three_phases_of_a_new_authority() -> None:
    shelf = RotationSteps()
    shelf.now += 3600 * DAY
    assert why_unusable(shelf.held.serving, shelf.held.bundle, (), now=shelf.now)
    shelf.step()  # nobody looked for years
    old = shelf.held
    assert "a next CA beside it" in shelf.step()
    introduced = shelf.held
    assert introduced.serving == old.serving, "nobody serves under it yet"
    assert len(shelf.authorities) == 2
    assert shelf.step() == "", "it is not known yet"
    shelf.known = True
    assert "known everywhere" in shelf.step()
    switched = shelf.held
    assert vouched_for(switched.serving, introduced), "whoever trusted both trusts it"
    assert not vouched_for(switched.serving, old)
    assert vouched_for(old.serving, switched), "a replica that is late is still trusted"
    assert switched.authority_key == introduced.next.key_pem
    assert switched.next == NO_PAIR
    assert shelf.step() == ""
    shelf.now = end(old.serving) - timedelta(seconds=1)
    while "dropped" not in (what := shelf.step()):
        assert vouched_for(old.serving, shelf.held), what
        if not what:
            shelf.now += timedelta(seconds=1)
    assert shelf.now == end(old.serving)
    assert len(shelf.authorities) == 1
    assert shelf.held.left == b""
    assert shelf.step() == ""


def end(pair: KeyPair) -> datetime:
    return read_certificates(pair.cert_pem)[0].not_valid_after_utc


def test_a_second_rotation_before_the_first_is_over_keeps_all_that_is_served() -> None:
    shelf = RotationSteps()
    shelf.known = True
    served = []
    for _ in range(3):
        served.append(shelf.held.serving)
        shelf.held = replace(shelf.held, authority_key=b"")
        assert "a next CA" in shelf.step()
        assert "known everywhere" in shelf.step()
    assert all(vouched_for(one, shelf.held) for one in served)
    assert len(shelf.authorities) == 4
    # Renewed first, then cleared: what was left lives as long as what is served.
    shelf.now += 91 * DAY
    for _ in range(3):
        shelf.step()
    assert len(shelf.authorities) == 1


def test_a_secret_that_is_gone_is_made_anew_from_what_is_served() -> None:
    shelf = RotationSteps()
    before, shelf.held = shelf.held, Holding()
    assert "what is served" in shelf.step(served=before)
    assert shelf.held.serving == before.serving
    assert shelf.held.authority_key == b"", "whoever deletes it wants other keys"
    assert shelf.step(served=before) == ""
    shelf.known = True
    assert "known everywhere" in shelf.step(served=before)
    assert vouched_for(before.serving, shelf.held)
    assert shelf.held.authority_key not in (b"", before.authority_key)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"serving": KeyPair(b"x", b"y")},
        {"bundle": b"-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n"},
        {"bundle": b""},
        {"serving": NO_PAIR, "authority_key": b"nonsense"},
        {"next": KeyPair(b"x", b"y"), "serving": NO_PAIR},
        {"left": b"\xff", "authority_key": b"-----BEGIN"},
        {"left": b"\xff" * 9, "serving": KeyPair(b"\x00", b"")},
    ],
)
@pytest.mark.parametrize("remembers", [True, False])
def test_nonsense_of_any_kind_ends_in_order(spoilt: dict[str, Any], remembers: bool) -> None:
    shelf = RotationSteps()
    before = shelf.held
    shelf.held = replace(shelf.held, **spoilt)
    shelf.known = True
    for _ in range(4):
        shelf.step(served=before if remembers else None)
    assert shelf.step(served=before) == ""
    assert why_unusable(shelf.held.serving, shelf.held.bundle, NAMES, now=NOW) is None
    assert shelf.held.authority is not None
    if remembers:
        assert vouched_for(before.serving, shelf.held)


def test_what_has_ended_needs_no_phases() -> None:
    """The next CA was never known: there is nothing that waiting would keep alive."""
    shelf = RotationSteps()
    shelf.held = replace(shelf.held, authority_key=b"")
    shelf.step()
    shelf.now += 91 * DAY
    assert "at once" in shelf.step()
    assert why_unusable(shelf.held.serving, shelf.held.bundle, NAMES, now=shelf.now) is None


def test_keys_stay_out_of_texts() -> None:
    shelf = RotationSteps()
    shelf.held = replace(shelf.held, authority_key=b"")
    shelf.step()
    # The text of a certificate may have any three letters.
    assert "PRIVATE KEY" not in repr(shelf.held)
