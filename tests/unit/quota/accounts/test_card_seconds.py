"""T5: what a queue has held of a card, times how long, to the millisecond."""

from hypothesis import given
from hypothesis import strategies as st

from builders import H200, H800
from cardquota.quota.accounts.account import Account
from cardquota.quota.accounts.card_seconds import MOST_SECONDS, CardSeconds
from cardquota.quota.pods.charge_state import ChargeState
from cardquota.quota.vocabulary import CPU, MEMORY

HELD = ChargeState.ALLOCATED


class MeterClock:
    """Milliseconds, as a test has them pass."""

    def __init__(self, now: int = 0) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def a_counting_account(clock: MeterClock) -> tuple[Account, CardSeconds]:
    account, seconds = Account("queue"), CardSeconds(clock)
    account.card_seconds = seconds
    return account, seconds


PODS = st.lists(
    st.tuples(
        st.sampled_from([H200, H800]),
        st.integers(1, 16),
        st.integers(0, 100_000),
        st.integers(0, 50_000),
    ),
    max_size=30,
)
"""Card, amount, when it was bound and how long it ran, milliseconds."""


@given(PODS, st.integers(-100_000, 100_000), st.lists(st.integers(0, 160_000), max_size=5))
def test_it_is_the_plain_sum_over_all_pods(
    pods: list[tuple[str, int, int, int]], origin: int, looks: list[int]
) -> None:
    """Whatever the clock's zero is, and whenever somebody looks."""
    clock = MeterClock(origin)
    account, seconds = a_counting_account(clock)
    events = [(begin, 1, card, n) for card, n, begin, _ in pods]
    events += [(begin + ran, -1, card, n) for card, n, begin, ran in pods]
    events += [(at, 0, card, 0) for at in looks for card in (H200, H800)]
    before = dict.fromkeys((H200, H800), 0)
    for at, sign, card, amount in sorted(events, key=lambda event: (event[0], -event[1])):
        clock.now = origin + at
        if sign:
            account.add(card, HELD, sign * amount)
        plain = sum(
            n * max(0, min(begin + ran, at) - begin) for c, n, begin, ran in pods if c == card
        )
        shown = seconds.seconds(card, account.row(card).allocated)
        assert shown == plain // 1000
        assert shown >= before[card]
        before[card] = shown


def test_only_bound_pods_and_cards_count() -> None:
    clock = MeterClock()
    account, seconds = a_counting_account(clock)
    for state in (ChargeState.RELEASED, ChargeState.GATED_DENY, ChargeState.GATED_GATE):
        account.add(H200, state, 3)
    account.add(CPU, HELD, 1000)
    account.add(MEMORY, HELD, 1 << 30)
    clock.now = 10_000
    assert seconds.seconds(H200, account.row(H200).allocated) == 0
    assert len(seconds) == 0


def test_a_pod_that_is_read_anew_loses_nothing() -> None:
    """It is uncharged and charged again: for a card without a quota the row goes and comes back."""
    clock = MeterClock()
    account, seconds = a_counting_account(clock)
    account.add(H200, HELD, 2)
    for now in (1_000, 2_500, 7_000):
        clock.now = now
        account.add(H200, HELD, -2)
        account.add(H200, HELD, 2)
    assert seconds.seconds(H200, 2) == 14


def test_what_has_no_row_any_more_is_forgotten() -> None:
    clock = MeterClock()
    account, seconds = a_counting_account(clock)
    account.add(H200, HELD, 1)
    account.add("made-up", HELD, 1)
    account.add("made-up", HELD, -1)
    clock.now = 5_000
    seconds.keep({H200})
    assert len(seconds) == 1
    assert seconds.seconds(H200, 1) == 5


def test_it_counts_within_bounds() -> None:
    seconds = CardSeconds(MeterClock())
    seconds.add(H200, MOST_SECONDS * 1000 + 5_000)
    assert seconds.seconds(H200, 0) == MOST_SECONDS
    seconds.add(H800, -5_000)
    assert seconds.seconds(H800, 0) == 0
