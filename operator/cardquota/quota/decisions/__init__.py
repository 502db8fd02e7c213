"""Questions to the ledger: may this pod, gang, group, Job or change be released? (section 7)

In: the ledger and the subject. Out: a `Verdict` with its numbers, or how many would fit. Charges
and changes nothing: the same question has the same answer.
"""

from .create_judgement import judge_create
from .gang_judgement import judge_gang
from .judgement import judge_release
from .queue_room import QueueRoom
from .volcano import Vote
from .waking import refused_workload
