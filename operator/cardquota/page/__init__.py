"""The page that the operator serves: what there is, who holds it, who waits and why; read-only.

In: the ledger, and what the API server lets a caller see (F7). Out: `PageServer`, which answers
what is below `/page/`: three static files and the data that they show (F8).
"""

from .overview import MOST_CARDS, MOST_NODES, MOST_QUEUES, Overview, overview
from .page_server import PageServer
from .sight import MOST_SINGLE_QUEUES, SightOf
