"""E5: what an administrator can change refuses no pod whose controller gives up."""

import pytest

from cardquota.quota import Effect, Mode, Outcome, Policy, Reason, Verdict, effect_on_create

CHANGEABLE = (
    Reason.CARD_NOT_IN_QUOTA,
    Reason.QUEUE_NOT_FOUND,
    Reason.QUEUE_NOT_OPEN,
    Reason.TOO_MUCH_KEPT,
)


def never(reason: Reason) -> Verdict:
    return Verdict(Outcome.NEVER, "queue", reason, "because")


@pytest.mark.parametrize("reason", list(Reason))
def test_it_waits_for_what_can_be_changed_and_is_refused_the_rest(reason: Reason) -> None:
    found = effect_on_create(never(reason), Policy.GATE, Mode.ENFORCE, of_volcano_job=True)
    assert found is (Effect.GATE if reason in CHANGEABLE else Effect.DENY)
    other = effect_on_create(never(reason), Policy.GATE, Mode.ENFORCE, of_volcano_job=False)
    assert other is Effect.DENY


@pytest.mark.parametrize(
    ("policy", "mode", "effect"),
    [
        (Policy.DENY, Mode.ENFORCE, Effect.DENY),
        (Policy.GATE, Mode.ENFORCE, Effect.GATE),
        (Policy.DENY, Mode.AUDIT, Effect.WARN),
    ],
)
def test_p3_a_pod_of_which_nothing_tells_the_card_is_told_at_once(
    policy: Policy, mode: Mode, effect: Effect
) -> None:
    """An autoscaler never sees it, so it would wait in vain."""
    verdict = Verdict(Outcome.UNSEEN, "queue", Reason.CARD_UNCLEAR, "because")
    assert effect_on_create(verdict, policy, mode, of_volcano_job=False) is effect
    other = Verdict(Outcome.UNSEEN, "queue", Reason.NODE_WITHOUT_CARD, "because")
    if mode is Mode.ENFORCE:
        assert effect_on_create(other, policy, mode, of_volcano_job=False) is Effect.GATE
