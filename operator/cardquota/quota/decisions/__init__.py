"""Questions to the ledger: may this pod, gang, group, Job or change be released? (section 7)

In: the ledger and the subject. Out: a `Verdict` with its numbers, or how many would fit. Charges
and changes nothing: the same question has the same answer.
"""

from .assignment import MemberKind, assigned, decided, most_assigned, never_fits
from .borrowing import is_surplus, must_go_first, with_borrowing
from .create_judgement import judge_create, on_the_way
from .gang_judgement import GangFault, fault_of_members, fault_of_workload, judge_gang
from .group_judgement import EnqueueVerdict, judge_enqueue, judge_group
from .group_write import judge_group_write
from .judgement import judge_new, judge_release, queue_not_named, queue_on_its_way
from .queue_room import QueueRoom, has_free, over_quota
from .queue_write import doubts_about_rows, known_card_meant, suggestions
from .resize import judge_resize
from .verdict_texts import (
    any_queue_meant,
    card_not_steered,
    group_meant,
    holders_text,
    lacked,
    queue_meant,
    told_of_default,
    with_group_meant,
    with_holders,
    with_holders_of,
)
from .volcano import (
    EnqueueRequest,
    JobPods,
    Vote,
    enqueue_request,
    has_too_many_tasks,
    judge_job,
    read_job,
    request_of_job,
    vote_without_judgement,
)
from .waking import RefusedWorkload, refused_workload, with_room
