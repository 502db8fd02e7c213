"""The one table from verdict x policy x mode to what admission does."""

import pytest

from cardquota.quota import EFFECTS, Effect, Mode, Outcome, Policy, effect_of, mode_of

ALL = [(o, p, m) for o in Outcome for p in Policy for m in Mode]


def test_every_verdict_policy_and_mode_has_an_effect() -> None:
    assert set(EFFECTS) == set(ALL)


@pytest.mark.parametrize(
    ("outcome", "policy", "effect"),
    [
        (Outcome.FITS, Policy.DENY, Effect.GATE),
        (Outcome.FITS, Policy.GATE, Effect.GATE),
        (Outcome.WAITS, Policy.DENY, Effect.DENY),
        (Outcome.WAITS, Policy.GATE, Effect.GATE),
        (Outcome.NEVER, Policy.DENY, Effect.DENY),
        (Outcome.NEVER, Policy.GATE, Effect.DENY),
        (Outcome.UNSEEN, Policy.DENY, Effect.GATE),
        (Outcome.UNSEEN, Policy.GATE, Effect.GATE),
        (Outcome.UNMANAGED, Policy.DENY, Effect.ALLOW),
        (Outcome.UNMANAGED, Policy.GATE, Effect.ALLOW),
    ],
)
def test_what_is_admitted_is_born_gated_and_what_never_fits_is_denied(
    outcome: Outcome, policy: Policy, effect: Effect
) -> None:
    assert effect_of(outcome, policy, Mode.ENFORCE) is effect


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("policy", Policy)
def test_audit_never_denies_or_gates_and_says_what_would_not_be_let_through(
    outcome: Outcome, policy: Policy
) -> None:
    refused_or_waiting = outcome in (Outcome.WAITS, Outcome.NEVER)
    expected = Effect.WARN if refused_or_waiting else Effect.ALLOW
    assert effect_of(outcome, policy, Mode.AUDIT) is expected


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("policy", Policy)
def test_off_lets_everything_by(outcome: Outcome, policy: Policy) -> None:
    assert effect_of(outcome, policy, Mode.OFF) is Effect.ALLOW


@pytest.mark.parametrize(
    ("audit", "namespace", "mode"),
    [
        (False, "", Mode.ENFORCE),
        (False, "enforced", Mode.ENFORCE),
        (False, "audit", Mode.AUDIT),
        (False, "off", Mode.OFF),
        (True, "", Mode.AUDIT),
        (True, "enforced", Mode.AUDIT),
        (True, "off", Mode.OFF),
    ],
)
def test_the_mode_is_the_installations_then_the_namespaces(
    audit: bool, namespace: str, mode: Mode
) -> None:
    assert mode_of(audit=audit, namespace=namespace) is mode
