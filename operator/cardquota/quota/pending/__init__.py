"""The pods that wait at each queue's gate, in the order of release, by the room they need.

In: pods and gangs that begin or stop waiting, and what a judgement said of them. Out: which to try
next with the room there is (E6), and which still have to be told why they wait. Judges nothing.
"""

from .candidate import Candidate, Gang, PodClass, Readiness, first_members
from .pending_notices import BehindHead, WaitTimes
from .pending_queue import AT_A_TIME, PendingQueue
