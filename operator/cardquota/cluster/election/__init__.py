"""Which replica leads: a Lease, an explicit term for each acquisition, and an explicit end.

In: a client that is used for nothing else. Out: `Elector`, the time that is left, what one leader
hands over to the next, and `settle_and_catch_up`, after which a new leader may decide.
"""

from .elector import Elector, Renewals
from .lease import StoredTerm, TermObject, handover_text, read_handover
from .takeover import LeadershipLost, settle_and_catch_up
