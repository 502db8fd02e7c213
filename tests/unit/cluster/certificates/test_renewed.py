"""When our own CA and serving certificate are made anew, and when they stay."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cardquota.cluster.certificates import (
    Holding,
    KeyPair,
    read_certificates,
    renewed,
    trusted_through,
    why_unusable,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = ["hook.system.svc"]
DAY = timedelta(days=1)


def made(held: Holding = Holding(), now: datetime = NOW) -> Holding:  # noqa: B008 - it is frozen
    found, _ = renewed(held, NAMES, now=now)
    assert renewed(found, NAMES, now=now) == (found, ""), "once is enough"
    assert why_unusable(found.serving, found.bundle, NAMES, now=now, margin=30 * DAY) is None
    return found


def test_nothing_is_done_until_the_margin() -> None:
    first = made()
    assert made(first, NOW + 59 * DAY) == first
    second = made(first, NOW + 61 * DAY)
    assert second.serving != first.serving
    assert replace(second, serving=first.serving) == first, "the authority stays"


def test_other_names_are_covered_at_once_and_fewer_need_nothing() -> None:
    first = made()
    then, why = renewed(first, [*NAMES, "new"], now=NOW)
    assert why == "a new serving certificate, for it does not cover new"
    assert renewed(then, NAMES, now=NOW) == (then, "")


def test_an_authority_lasts_ten_years_and_signs_for_nothing_beyond() -> None:
    held, first, now = made(), made(), NOW
    held = first
    while now < NOW + 3_600 * DAY:
        now += 20 * DAY
        held = made(held, now)
        assert held.bundle == first.bundle
    held = made(held, NOW + 3_621 * DAY)
    assert len(read_certificates(held.bundle)) == 1
    assert held.bundle != first.bundle
    later, before = read_certificates(held.serving.cert_pem), read_certificates(first.bundle)
    assert not trusted_through(later, before)


@pytest.mark.parametrize("spoilt", [{"authority_key": b""}, {"bundle": b"x"}])
def test_an_authority_that_cannot_sign_is_replaced(spoilt: dict[str, Any]) -> None:
    first = made()
    then, why = renewed(replace(first, **spoilt), NAMES, now=NOW)
    assert why.startswith("a new CA and serving certificate, for the CA is missing")
    assert then.bundle != first.bundle


@pytest.mark.parametrize(
    "serving", [KeyPair(b"x", b"y"), KeyPair(), made().serving], ids=["nonsense", "none", "another"]
)
def test_a_serving_certificate_that_is_none_is_replaced_under_its_ca(serving: KeyPair) -> None:
    first = made()
    then = made(replace(first, serving=serving))
    assert then.bundle == first.bundle


def test_what_has_ended_is_made_anew() -> None:
    first = made()
    assert made(first, NOW + 95 * DAY).bundle == first.bundle
    assert made(first, NOW + 4_000 * DAY).bundle != first.bundle


def test_keys_stay_out_of_texts() -> None:
    assert "PRIVATE" not in repr(made())
