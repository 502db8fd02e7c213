"""What the replay finds in stories: what was planted, and nothing where nothing was.

Under each heading stand queues, then stories: what one shows, its steps (`Story.tell`), and after
`!` what is found.
"""

from pathlib import Path

import pytest

from chaos.judging.fitting import fitting
from chaos.replay import replay

from .story import Story, with_cards

STORIES = """
# queue q A:3,B:2
pods that take turns
    waits a 2; waits b 2; starts a; runs a phase=Succeeded; starts b; goes a; goes b
one card too many
    waits a 2; waits b 2; starts a; opens b
    ! q holds 4 of A, quota 3
an excess is told once, and again when it grows
    lets a b c d e; runs a; runs b
    ! q holds 4 of A, quota 3
    ! q holds 5 of A, quota 3
a terminating pod counts until it is gone
    waits a 3; starts a; lets b; goes a
    ! q holds 4 of A, quota 3
a lowered quota
    waits a 3; opens a; queue q A:1
more is taken of one
    waits a 3; opens a; queue q A:1; pause 6; lets b
    ! q holds 4 of A, quota 1
who decided just before that
    waits a 2; opens a; waits b; queue q A:1; opens b
a charge that is not what the pod asks for: what is used counts
    waits a 3; opens a amount=1; lets b
    ! a is charged {'A': 1} and asks for 3 of A
    ! q holds 4 of A, quota 3
a charge for a card that the pod does not name
    waits a cards=A; opens a card=B
    ! a is charged {'B': 1} and asks for 1 of A
a charge to another queue
    queue other A:5; waits a; opens a queue=other
    ! a is charged to other, not q
a pod on another card than it is charged for
    waits a cards=A|B; opens a card=A; runs a node=chaos-1
    ! a runs on B and is charged {'A': 1}
a gate that opened without a decision
    waits a; opens_by_itself a
    ! a is released and bears no decision
another pod under the name is another pod
    waits a 3; opens a; goes a; waits a 1; waits b 2; opens b; opens a
a gang without a reservation
    gang g ab 2; opens a
    ! a is released, and nothing is reserved for its gang
a gang with one
    gang g ab 2; group g 2 reserving=2; opens a; opens b; runs a; runs b; group g 2; waits more
    group=g; opens more
what is reserved may not be given to others
    gang g ab 2; group g 2 reserving=2; opens a; waits x 2; opens x
    ! q holds and reserves 4 of A, quota 3
what is reserved must fit
    waits x 2; opens x; gang g ab 2; group g 2 reserving=2
    ! q holds and reserves 4 of A, quota 3
members that hold cards in another queue
    queue own A:4; group g 2 queue=own; waits a group=g; waits b group=g; group g 2 reserving=2
    queue=own; opens a queue=own; opens b queue=own; group g 2 queue=own; group g 3; waits c 0
    group=g
what they hold there was never judged here
    queue own A:4; group g 2 queue=own; waits a group=g; waits b group=g; group g 2 reserving=2
    queue=own; opens a queue=own; opens b queue=own; group g 2 queue=own; group g 3; waits c 0
    group=g; group g 3 reserving=2
    ! chaos/g reserves 2 of A in q; its members can hold 0
a reservation that stands is judged once
    gang g ab 2; group g 2 reserving=2; opens a; goes b; pause 10; group g 3 reserving=2
members that were there a moment ago
    gang g ab 2; goes b; group g 2 reserving=2
a reservation in another queue than the group's
    queue other A:5; gang g ab 2; group g 2 reserving=2 reserved_in=other
    ! chaos/g of q reserves in other
    ! chaos/g reserves 2 of A in other; its members can hold 0
a reservation that grows
    gang g abc 2; group g 2 reserving=2; group g 2 reserving=3
    ! the reservation of chaos/g grows to 3 of A
another group under the name reserves anew
    gang g abc 2; group g 2 reserving=2; ungroup g; group g 3 uid=new; group g 3 reserving=3
    uid=new
a member goes where its group is, or was a moment ago
    queue other A:5; gang g ab 1; group g 1 queue=other; opens a; pause 6; opens b
    ! b is charged to q, not other
a gang that has just lost a member
    gang g ab 2; group g 2 reserving=2; starts a b; group g 2; goes b; waits c group=g; opens c
one that lost it long ago
    gang g ab 2; group g 2 reserving=2; starts a b; group g 2; goes b; waits d group=g; pause 6;
    opens d
    ! d is released, and nothing is reserved for its gang
# queue q A:9; queue other A:9
a reservation of nothing is none
    gang g abc 3; group g 3 reserving=0; opens a
    ! a is released, and is not covered by what is reserved for its gang
nor is one in the queue that the group has left
    gang g abc 3; group g 3 reserving=3; pause 60; group g 3 reserving=3 reserved_in=q
    queue=other; pause 60; opens a queue=other
    ! a is released, and is not covered by what is reserved for its gang
who was released as the group left was covered
    gang g abc 3; group g 3 reserving=3; opens a; group g 3 reserving=3 reserved_in=q
    queue=other; opens b; goes b
one card short is not enough for the last
    gang g abc 3; group g 3 reserving=2; opens a; opens b; opens c
    ! c is released, and is not covered by what is reserved for its gang
of members that differ each must be covered
    gang g a 2; waits b 3 group=g; group g 2 reserving=2; opens b
    ! b is released, and is not covered by what is reserved for its gang
a member without cards needs the reservation alone
    gang g ab 2 0; group g 2 reserving=0; opens a; opens b
a pod of a group that never was
    waits a group=nobody; pause 60; opens a
    ! a is released, and its group is not there
a pod of a group that is gone
    gang g a 1; opens a; ungroup g; waits b group=g; pause 300; opens b
    ! b is released, and its group is not there
who decided just before it went
    gang g a 1; ungroup g; opens a
a gang that starts in part
    gang g abc 3; group g 3 reserving=3; starts a; pause 15; group g 3
    ! chaos/g was started with 1 of 3
one that starts one short
    gang g abc 3; group g 3 reserving=3; opens a; opens b; pause 11; queue other A:8
    ! chaos/g was started with 2 of 3
it may take a moment
    gang g abc 3; group g 3 reserving=3; opens a; opens b; pause 8; opens c; pause 11; queue
    other A:8
what others took away: opens a; opens b; goes b; pause 11; queue other A:8
    gang g abc 3; group g 3 reserving=3; opens a; opens b; goes b; pause 11; queue other A:8
what others took away: opens a; opens b; group g 3 queue=other; pause 11; queue other A:8
    gang g abc 3; group g 3 reserving=3; opens a; opens b; group g 3 queue=other; pause 11;
    queue other A:8
what others took away: opens a; opens b; group g 4; pause 11; queue other A:8
    gang g abc 3; group g 3 reserving=3; opens a; opens b; group g 4; pause 11; queue other A:8
what others took away: opens a; opens b; ungroup g; pause 11; queue other A:8
    gang g abc 3; group g 3 reserving=3; opens a; opens b; ungroup g; pause 11; queue other A:8
what they took away a moment before its first gate
    gang g ab 2; group g 2 reserving=2; goes b; opens a; pause 11; queue other A:8
and long before
    gang g ab 2; group g 2 reserving=2; goes b; pause 60; opens a; pause 11; queue other A:8
    ! chaos/g was started with 1 of 2
further members follow one by one
    gang g abc 3; group g 3 reserving=3; opens a; opens b; opens c; group g 3; waits d group=g;
    waits e group=g; opens d; pause 11; queue other A:8
one that needs more members now starts them together
    gang g ab 2; group g 2 reserving=2; opens a; opens b; group g 4; waits c group=g; waits d
    group=g; pause 6; group g 4 reserving=4; opens c; pause 11; queue other A:8
    ! chaos/g was started with 3 of 4
# queue q A:3,B:1
what fits is enqueued, and its pods replace it
    announces g A:3; announces g A:3 A:3; waits a group=g; waits b group=g; group g 2
    reserving=2; opens a; opens b; runs a; runs b; group g 2
what does not fit
    waits x 2; opens x; announces g A:2 A:2
    ! chaos/g is enqueued with 2 of A, and q lacks 1 of A
two that do not fit together
    announces g A:2 A:2; announces h A:2 A:2
    ! chaos/h is enqueued with 2 of A, and q lacks 1 of A
what is elastic makes room for one reservation
    service 3; announces g A:2; announces g A:2 A:2; announces h A:1 A:1
    ! chaos/h is enqueued with 1 of A, and q lacks 1 of A
and none for a gate
    service 3; announces g A:2 A:2; pause 6; waits a group=g; waits b group=g; group g 2
    reserving=2; opens a
    ! q holds and reserves 5 of A, quota 3
    ! q holds 4 of A, quota 3
what was decided before a group was enqueued may be stored after it
    service 3; goes s2; pause 6; queue q A:4,B:1; gang h ab 2; announces g A:1; announces g A:1
    A:1; group h 2 reserving=2; lets x
    ! q holds and reserves 5 of A, quota 4
a choice too may stand over what is elastic
    service 3; announces g A|B:2; announces g A|B:2 A:2; waits x cards=B; opens x card=B
a choice gets no card that is over a lowered quota
    lets x y; queue q A:1,B:1; pause 20; announces g A|B:1 B:1; announces h A:1 A:1
    ! chaos/h is enqueued with 1 of A, and q lacks 2 of A
what was elastic a moment ago counts
    service 3; group service 3; announces g A:2 A:2; pause 6; announces h B:1 B:1; announces i
    A:1 A:1
    ! chaos/i is enqueued with 1 of A, and q lacks 3 of A
a choice is reserved on any of its cards
    announces g A|B:2 A:2; announces h A|B:2 A:1,B:1; queue q A:9,B:9; announces i A|B:1,B:1 A:2
    ! chaos/i is enqueued with 2 of A, which it did not ask for
what the group did not say
    announces g A:1; pause 6; announces g A:1 A:2
    ! chaos/g is enqueued with 2 of A, which it did not ask for
what it said a moment ago
    announces g A:2; announces g A:1 A:2
a reservation is given back before there is another
    announces g A:2 A:2; announces g A:1 A:1
    ! chaos/g is enqueued anew before that was given back
a reservation that is added to the members
    queue q A:9; announces g A:2 A:2; waits a group=g; waits b group=g; group g 2 reserving=4
    ! chaos/g reserves 4 of A in q; its members can hold 2
no gate opens before that is replaced
    announces g A:2 A:2; waits a group=g; waits b group=g; opens a
    ! a is released, and nothing is reserved for its gang
# queue q A:1 lent=1; waits old maker=web-1; opens old; pause 60
a new pod of an update
    waits new maker=web-2; starts new
nobody beyond what is lent
    waits new maker=web-2; opens new; waits more maker=web-2; opens more
    ! q holds 3 of A, quota 2
a pod of nobody
    lets other
    ! other is released beyond the quota of q, and is of no rolling update
one of the old version
    waits other maker=web-1; opens other
    ! other is released beyond the quota of q, and is of no rolling update
who fits, of one decision with who borrows, which comes first
    waits new maker=web-2; waits other; goes old; opens new; opens other
one of another Deployment
    waits other maker=api-2; opens other
    ! other is released beyond the quota of q, and is of no rolling update
an old pod that was there a moment ago
    waits x; waits new maker=web-2; goes old; opens x; opens new
# queue q A:3
a Job that is reserved first
    of_a_job g Pending; of_a_job g Pending 2; of_a_job g Inqueue 2
one that is not
    of_a_job g Pending asks=A:2; of_a_job g Inqueue asks=A:2
    ! chaos/g is enqueued by Volcano, asks for 2 of A, and nothing is reserved
nor says which card, where its queue has one
    of_a_job g Pending; of_a_job g Inqueue
    ! chaos/g is enqueued by Volcano, asks for 2 of A, and nothing is reserved
one whose Job is gone gets no pods
    of_a_job g Pending; job job; unjob job; of_a_job g Inqueue
one whose Job was made anew does
    of_a_job g Pending; job job; unjob job; job job; of_a_job g Inqueue
    ! chaos/g is enqueued by Volcano, asks for 2 of A, and nothing is reserved
a vote may be old when Volcano writes
    of_a_job g Pending; of_a_job g Pending 2; of_a_job g Pending; pause 5; of_a_job g Inqueue
but not of another age
    of_a_job g Pending; of_a_job g Pending 2; of_a_job g Pending; pause 21; of_a_job g Inqueue
    ! chaos/g is enqueued by Volcano, asks for 2 of A, and nothing is reserved
what was reserved for another of its name
    of_a_job g Pending 2; ungroup g; of_a_job g Pending uid=new; of_a_job g Inqueue uid=new
    ! chaos/g is enqueued by Volcano, asks for 2 of A, and nothing is reserved
of several cards nothing is known
    queue q A:3,B:1; of_a_job g Pending; of_a_job g Inqueue
of its pods the gates decide
    of_a_job g Pending asks=A:2; waits a group=g; waits b group=g; of_a_job g Inqueue
a Job that was ended for refused pods is told once
    job j; job j PodsRefused; job j PodsRefused; job other
    ! Job j was ended by Volcano since its pods were refused
"""
"""What must never be."""
WAITING = """
# queue q A:3,B:1
a pod with room
    waits a 3; waits b 4
    ! a
any of its cards will do
    waits full 3; opens full; waits either cards=A|B; waits a
    ! either
of a gang some are not there yet
    gang g ab 3
a whole gang
    gang g abc 3
    ! chaos/g
which has no room
    gang g abc 3; lets x
a gang that is reserved starts whole
    gang g a 3; group g 3 reserving=3; waits x
then a member has what is reserved
    gang g ab 3; group g 3 reserving=3; waits x; opens b
    ! a
a group that could be enqueued
    announces g A:3; announces h A:3,A|B:2
    ! chaos/g, to be enqueued,
with a choice
    announces g A:3 A:3; announces i A|B:2; announces j A|B:1
    ! chaos/j, to be enqueued,
it may stand over what is elastic
    service 3; announces g A:2
    ! chaos/g, to be enqueued,
its pods may not
    service 3; announces g A:2 A:2; waits a group=g; waits b group=g
until that is gone
    service 3; announces g A:2 A:2; waits a group=g; waits b group=g; goes s0; goes s1
    ! chaos/g
its pods may use what is reserved for it, and others may not
    announces g A|B:2 A|B:2; waits y 2; opens y; waits x 2; waits a cards=A|B group=g; waits b
    cards=A|B group=g
    ! chaos/g
who lost its place
    announces g A:2 A:2; announces g A:2
asks again with its first pod
    announces g A:2 A:2; announces g A:2; waits a group=g
    ! chaos/g, to be enqueued,
or for something else
    announces g A:2 A:2; announces g A:2; announces g A:1
    ! chaos/g, to be enqueued,
# queue q A:3
a Job that Volcano asks about
    of_a_job g Pending; waits x 2
    ! x
    ! chaos/g, to be enqueued,
which has no room any more
    of_a_job g Pending; waits x 2; opens x
one that Volcano has enqueued
    of_a_job g Pending 2; of_a_job g Inqueue
one whose time was over
    of_a_job g Pending 2; of_a_job g Pending
    ! chaos/g, to be enqueued,
one whose card only its Job names, where each card has room
    queue q A:2,B:2; of_a_job g Pending
    ! chaos/g, to be enqueued,
and where one has not
    queue q A:2,B:2; of_a_job g Pending; lets x
a gang with room on two cards waits for one of them
    queue q A:2,B:2; lets x; waits y cards=B; opens y card=B; group g 2; waits a cards=A|B group=g;
    waits b cards=A|B group=g
and starts there
    queue q A:2,B:2; lets x; group g 2; waits a cards=A|B group=g; waits b cards=A|B group=g
    ! chaos/g
"""
"""Who could go, or be enqueued, and waits."""
LENT = """
# queue b D:4; queue o D:2; group g 1 queue=b
one ends for who is owed a card
    lends w x y z; owed o; plans o z; ends z; goes z; runs o few-0
one that nobody needs
    lends w x y z; owed o; plans o z; ends y
    ! y is ended, and stands in no plan
one before it stands on who waits
    lends w x y z; owed o; ends z; plans o z
    ! z is ended, and stands in no plan
a plan that is done twice
    lends w x y z; owed o; plans o z; ends z; plans o y; ends y
    ! y is ended, and 2 have ended for o, which needs 1
another, once the first's room went to one that was owed it
    lends w x y z; owed p; owed o; plans o z; ends z; goes z; runs p few-0; plans o y; ends y
but not a third
    lends w x y z; owed p; owed o; plans o z; ends z; goes z; runs p few-0; plans o y; ends y;
    plans o x; ends x
    ! x is ended, and b keeps less than the 2 it deserves
    ! x is ended, and 3 have ended for o, which needs 2
nor where it went to one that borrows
    lends w x y z; owed o; plans o z; ends z; goes z; lends v; plans o y; ends y
    ! y is ended, and 2 have ended for o, which needs 1
one that stood in the plan of somebody who is gone, too
    lends w x y z; owed p; plans p z; goes p; owed o; plans o z; ends z; plans o y; ends y
    ! y is ended, and 2 have ended for o, which needs 1
one by the same plan, which a successor has written again
    lends w x y z; owed o; plans o z; ends z; plans o z; goes z
one of a queue that has no more than it deserves
    lends w x; owed o; plans o x; ends x
    ! x is ended, and b keeps less than the 2 it deserves
and that has no more after those of another plan
    lends w x y; owed o; plans o y; owed p; plans p x; ends y; ends x
    ! x is ended, and b keeps less than the 2 it deserves
one for a queue that gets more than it deserves
    queue o D:3; lends w x y z; owed o 3; plans o z
    ! pods end for o, to whose queue 2 of D is owed
one beyond the minimum of its gang
    lends w x y group=g; lends z; group g 2 queue=b; owed o; plans o y; ends y
one of the minimum
    lends w x group=g; lends y z; group g 2 queue=b; owed o; plans o x; ends x
    ! x is ended, and 1 of chaos/g go on, which needs 2
a gang as a whole
    lends w x group=g; lends y z; group g 2 queue=b; owed o; plans o w x; ends w; ends x
one of a lower priority in the same queue
    lends z; waits p cards=D queue=b priority=5; plans p z way=preempt; ends z
one of the same priority
    lends z; waits p cards=D queue=b; plans p z way=preempt; ends z
    ! z is ended, and is not of a lower priority in the queue of p
one of a lower priority in another queue
    lends z; waits o cards=D queue=o priority=5; plans o z way=preempt; ends z
    ! z is ended, and is not of a lower priority in the queue of o
"""
BESIDE_VOLCANO = "queue q A:3"


def stories(text: str) -> dict[str, tuple[bool, str, list[str]]]:
    """Whether it is beside Volcano, its steps, what is found; by what one shows."""
    told: dict[str, tuple[bool, str, list[str]]] = {}
    for part in text.strip().removeprefix("# ").split("\n# "):
        begin, *lines = part.split("\n")
        for line in lines:
            if not line.startswith(" "):
                what = line
                told[what] = (begin == BESIDE_VOLCANO, f"{begin};", [])
            elif line.startswith("    ! "):
                told[what][2].append(with_cards(line.removeprefix("    ! ")))
            else:
                volcano, steps, found = told[what]
                told[what] = volcano, f"{steps} {line}", found
    return told


ALL = stories(STORIES) | stories(LENT)


@pytest.mark.parametrize(("volcano", "steps", "expected"), ALL.values(), ids=ALL)
def test_what_is_found(tmp_path: Path, steps: str, expected: list[str], *, volcano: bool) -> None:
    story = Story(tmp_path).tell(steps)
    violations = replay(story.file, volcano=volcano).violations
    assert [one.what for one in violations] == expected


@pytest.mark.parametrize(
    ("volcano", "steps", "expected"), stories(WAITING).values(), ids=stories(WAITING)
)
def test_who_could_go(tmp_path: Path, steps: str, expected: list[str], *, volcano: bool) -> None:
    story = Story(tmp_path).tell(steps)
    assert fitting(replay(story.file, volcano=volcano).recount, "q") == expected
