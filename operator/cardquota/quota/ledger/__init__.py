"""Everything that is charged, to whom, kept exact event by event (I1, I2).

In: facts about pods, nodes, queues, groups and namespaces, and what the leader decides. Out: the
`Ledger`, with an `Account` for each queue and a `PodGroupState` for each pod group. Who only asks
takes a `LedgerReader`.
"""

from .charges import Charges
from .ledger import Ledger
from .ledger_reader import KeptRoom, LedgerReader, LedgerSettings
from .ledger_state import LedgerState
from .pod_assessor import PodAssessor, class_key_of
from .release_decisions import ReleaseDecisions
from .shares import ProgressiveFilling, WeightedDemand
