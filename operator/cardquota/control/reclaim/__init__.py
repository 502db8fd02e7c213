"""What the leader does with plans: ends pods so that others can start (L5).

In: the ledger, plans of the domain, a term, and a writer that respects it. Out: `Reclaimer`. What
ends for whom is written on who waits before anything is asked to end, and all that follows is done
by what stands there: so a successor goes on where its predecessor stopped.
"""

from .evictions import LEFT_OUT, EvictionAnswer, EvictionBudget, Evictor
from .plan_writer import PlanWriter
from .reclaimer import EVERY, Reclaimer
