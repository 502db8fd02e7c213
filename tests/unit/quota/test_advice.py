"""Section 9: which change of a sentence is worth telling anew, and which is not."""

from cardquota.quota import (
    MOST_LISTED,
    NO_ADVICE,
    Advice,
    Outcome,
    Reason,
    Shortfall,
    Verdict,
    advice_of,
)


def verdict(*shorts: Shortfall, never: bool = False) -> Verdict:
    outcome = Outcome.NEVER if never else Outcome.WAITS
    return Verdict(outcome, "queue", Reason.INSUFFICIENT_CARD, "text", shorts)


def of(**capabilities: int) -> Advice:
    return Advice(never=False, capabilities=tuple(capabilities.items()))


def test_what_is_in_use_is_no_part_of_it() -> None:
    few, many = Shortfall("H200", 3, 5, 4), Shortfall("H200", 3, 9, 4, leaving=2)
    assert advice_of(verdict(few)) == advice_of(verdict(many)) == of(H200=4)
    assert not advice_of(verdict(few)).outdates(advice_of(verdict(many)))


def test_another_quota_is() -> None:
    assert of(H200=2).outdates(of(H200=4))
    assert of(H200=4).outdates(of(H200=2))


def test_so_is_that_it_can_never_fit_and_that_it_can_after_all() -> None:
    waits, never = Shortfall("H200", 3, 5, 4), Shortfall("H200", 3, 3, 2)
    before, after = advice_of(verdict(waits)), advice_of(verdict(never, never=True))
    assert after == Advice(never=True, capabilities=(("H200", 2),))
    assert after.outdates(before)
    assert before.outdates(after)
    assert not after.outdates(after)


def test_that_something_else_lacks_room_now_depends_on_what_is_in_use() -> None:
    assert not of(H800=8).outdates(of(H200=4))
    assert not of(H200=4, cpu=8_000).outdates(of(H200=4))
    assert of(H200=3, cpu=8_000).outdates(of(H200=4))


def test_what_the_sentence_named_and_is_not_short_now_is_compared_with_the_limit_of_now() -> None:
    limits: dict[str, int | None] = {"H200": 4, "cpu": 40_000}
    assert of(H200=4).outdates(of(H200=4, cpu=4_000), limits.get)
    assert not of(H200=4).outdates(of(H200=4, cpu=40_000), limits.get)
    assert of(H200=4).outdates(of(memory=4), limits.get), "it is not limited any more"


def test_who_lacks_no_room_gets_none_and_may_be_told_never() -> None:
    assert advice_of(Verdict(Outcome.UNSEEN, "queue", Reason.GANG_INCOMPLETE, "x")) is NO_ADVICE
    closed = Verdict(Outcome.NEVER, "queue", Reason.QUEUE_NOT_OPEN, "x")
    assert advice_of(closed) == Advice(never=True, capabilities=())


def test_of_many_alternatives_those_that_the_sentence_lists_are_kept() -> None:
    shorts = [Shortfall(f"card-{n}", 1, 1, 0) for n in range(1_000)]
    assert len(advice_of(verdict(*shorts)).capabilities) == MOST_LISTED
