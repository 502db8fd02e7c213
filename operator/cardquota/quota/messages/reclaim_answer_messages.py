"""What is told to whoever asks whether cards are taken back for a workload, or from it (L7)."""

from collections.abc import Sequence

from ..words import counted, listed, show

# --- for one that waits ---------------------------------------------------------------------------


def could_end(
    card: str, amount: int, pods: int, queues: Sequence[str], seconds: int, *, dry_run: bool = False
) -> str:
    """Pods of other queues could end for it. `amount`: cards that they hold. `seconds`: until it
    has waited long enough.
    """
    return (
        f"<{amount}> of <{show(card)}> could be taken back from {_queues(queues)}, where "
        f"{counted(pods, 'pod')} would end for it{_when(seconds, dry_run=dry_run)}"
    )


def could_preempt(
    card: str, amount: int, pods: int, queue: str, seconds: int, *, dry_run: bool = False
) -> str:
    """The same for one at the gate, of pods of lower priority in its own queue."""
    return (
        f"<{amount}> of <{show(card)}> could be taken from pods of lower priority in Queue "
        f"<{show(queue)}>, where {counted(pods, 'pod')} would end for it"
        f"{_when(seconds, dry_run=dry_run)}"
    )


def _when(seconds: int, *, dry_run: bool) -> str:
    if dry_run:
        return ", but reclaim is dryRun here, so none does; ask your administrator to turn it on"
    soon = f"within <{seconds}> s" if seconds > 0 else "within some seconds"
    return f", {soon}, unless a PodDisruptionBudget or a limit of evictions delays it"


def ends_for_it(card: str, since: str, number: int, left: int, named: Sequence[str] = ()) -> str:
    """A plan is being carried out for it. `since`: when it was decided. `number`: how many pods
    end; `left`: how many of these are still there; `named`: those that the reader may see.
    """
    more = f" and {left - len(named)} more" if left > len(named) else ""
    names = f" ({', '.join(f'<{show(name)}>' for name in named)}{more})" if named else ""
    still = f"still there: <{left}>{names}" if left else "all are gone"
    return (
        f"room of <{show(card)}> is made for it by ending {counted(number, 'pod')}, since "
        f"{show(since)}, and nobody else gets that card meanwhile: {still}; wait"
    )


def ended_in_vain(card: str, number: int, until: str) -> str:
    """It did not start in time, in the room that ending so many pods was to make."""
    return (
        f"it did not start in time in the room of <{show(card)}> that was to be made by ending "
        f"{counted(number, 'pod')}, so nothing more is ended for it until {show(until)}; see what "
        "else keeps it from its nodes, in the events of the scheduler"
    )


def paused(queue: str, card: str, number: int, until: str) -> str:
    """So many others of its queue did not start in time. `until`: when one more may be tried."""
    return (
        f"nothing is ended for Queue <{show(queue)}> and <{show(card)}> until {show(until)}: "
        f"at least <{number}> of its pods and groups that wait did not start in the room that was "
        "to be made for them; see what keeps them from their nodes, in the events of the scheduler"
    )


def ends_for_another(card: str) -> str:
    """Plans for the same card are being carried out, for others."""
    return (
        f"pods are being ended to make room of <{show(card)}> for other pods or groups, and its "
        "turn comes after them; wait a few minutes"
    )


def off_in_queue(queue: str) -> str:
    """The annotation of its queue says so."""
    return (
        f"nothing is ended for it: Queue <{show(queue)}> has volcano.sh/card.reclaim: off; ask the "
        "queue's owner to remove that"
    )


def never_preempts() -> str:
    """It, or a member of its gang, says so."""
    return (
        "nothing is ended for it: it has preemptionPolicy: Never, or a pod of its group has; use a "
        "priority class without that"
    )


def not_owed(queue: str, card: str, asked: int, held: int, deserved: int) -> str:
    """Its queue would have more than it deserves. `held`: by its pods on nodes."""
    return (
        f"nothing is ended for it: Queue <{show(queue)}> holds <{held}> of <{show(card)}>, and "
        f"with <{asked}> more it would hold more than the <{deserved}> that it deserves; wait, or "
        "ask for more deserved cards"
    )


def nobody_above(card: str) -> str:
    """No other queue has what would have to be given back."""
    return (
        f"nothing is ended for it: no other queue holds more of <{show(card)}> than it deserves; "
        "wait until pods end"
    )


def little_above(card: str, above: int, asked: int) -> str:
    """What others would have to give back is not enough. `above`: what they hold beyond what they
    deserve.
    """
    return (
        f"nothing is ended for it: other queues hold only <{above}> of <{show(card)}> more than "
        f"they deserve, and with that its <{asked}> would not fit; wait until pods end"
    )


def nobody_lower(queue: str) -> str:
    """It waits for its queue's quota, and is not above others there."""
    return (
        f"nothing is ended for it: no pod in Queue <{show(queue)}> that holds these cards has a "
        "lower priority; wait, or use a higher priority class"
    )


def all_protected(queues: Sequence[str]) -> str:
    """Those that could make room may not end."""
    return (
        f"nothing is ended for it: pods {_of(queues)} that could make room may not end, as they "
        "are not preemptable, their queue is not reclaimable, they came past admission or no quota "
        "is enforced in their namespace; wait, or ask their owners"
    )


def budget_keeps(queues: Sequence[str]) -> str:
    """An eviction was refused. `queues`: whose pods these are."""
    return (
        f"nothing is ended for it: a PodDisruptionBudget keeps pods {_of(queues)} that could make "
        "room; wait, or ask their owners for a wider budget"
    )


def no_room_on_nodes(card: str) -> str:
    """Whoever ends that may, it would not fit."""
    return (
        "nothing is ended for it: by the end of those that may, it would not have enough of "
        f"<{show(card)}> on nodes that it may use; see its node selector, its tolerations and how "
        "much it asks for on one node"
    )


def too_many(most: int) -> str:
    """More pods than one plan ends."""
    return (
        f"nothing is ended for it: more than <{most}> pods would have to end; wait, or ask for "
        "less at once"
    )


def enough_leaves(card: str) -> str:
    """What it waits for is already on its way."""
    return (
        f"nothing more is ended for it: pods that are being deleted leave enough of "
        f"<{show(card)}>; wait until they are gone"
    )


def room_on_nodes(card: str) -> str:
    """Nodes have the cards, so ending others would not help."""
    return (
        f"nothing is ended for it: nodes that it may use have enough of <{show(card)}> free, or "
        "others of its queue come first; the scheduler's event FailedScheduling says what else it "
        "lacks"
    )


# --- for one that has cards -----------------------------------------------------------------------


def ends_for(who: str, queue: str, since: str) -> str:
    """It was chosen to end. `who`: for whom, as the reader may know it, and of which queue."""
    return (
        f"it ends to make room for {show(who, most=300)} of Queue <{show(queue)}>, as was decided "
        f"at {show(since)}; its controller, if it has one, makes another pod that waits for "
        "its turn"
    )


def never_preemptable() -> str:
    """It, or its group, says so."""
    return 'it is never ended for others: volcano.sh/preemptable is "false" on it or on its group'


def never_past_admission() -> str:
    """And the settings leave such pods alone."""
    return (
        "it is never ended for others: it came past admission, and reclaim.pastAdmission is not set"
    )


def never_static() -> str:
    """Its file on the node makes it."""
    return "it is never ended for others: it is a static pod, which its kubelet would start again"


def never_unenforced() -> str:
    """So nobody is owed its cards there."""
    return "it is never ended for others: no quota is enforced in its namespace"


def never_without(name: str, pods: int, text: str) -> str:
    """One that would end with it may not. `name`: of that one. `text`: what is said of it."""
    return (
        f"its group of <{pods}> pods would end as a whole, and Pod <{show(name)}> of it may not: "
        f"{text}"
    )


def never_so_many(pods: int, most: int) -> str:
    """Its gang is too large."""
    return (
        f"it is never ended for others: its group of <{pods}> pods would end as a whole, and at "
        f"most <{most}> pods end at once"
    )


def may_end(
    queue: str,
    card: str,
    numbers: tuple[int, int],
    unit: str,
    needing: Sequence[tuple[str, int]],
) -> str:
    """Its queue has borrowed what it holds. `numbers`: what its queue holds and deserves. `unit`:
    what ends with it. `needing`: the queues that wait for the card, with what they ask for.
    """
    held, deserved = numbers
    now = ", ".join(f"Queue <{show(name)}> (<{asked}>)" for name, asked in needing)
    need = f"which wait for it now: {now}" if needing else "none of which waits for it now"
    return (
        f"{unit} may be ended for queues that deserve its cards, {need}; Queue <{show(queue)}> "
        f"holds <{held}> of <{show(card)}> and deserves <{deserved}>, so <{held - deserved}> of "
        "them are borrowed"
    )


def queue_gives_nothing(queue: str) -> str:
    """`spec.reclaimable` of its queue is false."""
    return (
        f"it is not ended for other queues: Queue <{show(queue)}> has spec.reclaimable: false, so "
        "it gives nothing back"
    )


def nothing_borrowed(queue: str, card: str, numbers: tuple[int, int]) -> str:
    """Its queue deserves all that it holds. `numbers`: as above."""
    held, deserved = numbers
    return (
        f"it is not ended for other queues: Queue <{show(queue)}> holds <{held}> of <{show(card)}> "
        f"and deserves <{deserved}>"
    )


def more_than_borrowed(
    queue: str, card: str, numbers: tuple[int, int], unit: str, amount: int
) -> str:
    """Without it its queue would have less than it deserves. `amount`: what it, or its `unit`,
    holds.
    """
    held, deserved = numbers
    return (
        f"it is not ended for other queues: {unit} holds <{amount}> of <{show(card)}>, and Queue "
        f"<{show(queue)}> only <{held - deserved}> more than the <{deserved}> that it deserves"
    )


def unit_text(pods: int, *, elastic: bool) -> str:
    """What ends together, for the sentences above."""
    if elastic:
        return "it, as one beyond the minimum of its group,"
    return "it" if pods == 1 else f"its group of <{pods}> pods as a whole"


def for_higher_priority(text: str, priority: int, *, dry_run: bool = False) -> str:
    """The end of what is said of one that may end at all: by whom of its own queue. `text`: what
    holds for other queues.
    """
    words = "; reclaim is dryRun, so nothing ends now" if dry_run else ""
    return (
        f"{text}; a pod of its own queue that lacks quota and has a priority above <{priority}> "
        f"may end it{words}"
    )


# --- for `check` ----------------------------------------------------------------------------------


def mode_is(mode: str, after: float, preempt_after: float) -> str:
    """Where pods are ended, or it is said which would be. The latter: seconds."""
    nothing = ", and nothing is" if mode == "dryRun" else ""
    return (
        f"reclaim is {mode}: below is what would be ended now for those who wait{nothing}; they "
        f"wait <{after:g}> s for a node before that, or <{preempt_after:g}> s for quota, and "
        "PodDisruptionBudgets and limits of evictions are not looked at here"
    )


def would_end(who: str, queue: str, card: str, asked: int, victims: Sequence[str]) -> str:
    """A plan for one that waits. `who`: with its kind. `victims`: with their namespaces."""
    return (
        f"for {who} of Queue <{show(queue)}>, which lacks <{asked}> of <{show(card)}>, "
        f"{counted(len(victims), 'pod')} would end: {listed(victims)}"
    )


def stands(who: str, queue: str, text: str) -> str:
    """What is said of one that waits, as above."""
    return f"{who} of Queue <{show(queue)}>: {text}"


def more_wait(number: int, *, would_end: bool) -> str:
    """Those who wait that are not told, each like the others. `would_end`: whether pods would end
    for them.
    """
    return f"for {number} more that wait {'pods' if would_end else 'no pods'} would end"


def not_looked_at(number: int) -> str:
    """Of very many who wait."""
    return f"{number} more wait, and it was not looked at whether pods would end for them"


def _queues(queues: Sequence[str]) -> str:
    return f"{'Queue' if len(queues) == 1 else 'Queues'} <{listed(queues)}>"


def _of(queues: Sequence[str]) -> str:
    return f"of {_queues(queues)}" if queues else "of other queues"
