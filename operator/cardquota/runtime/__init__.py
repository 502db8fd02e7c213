"""`cardquota run`: assembles everything, and shuts it down in order. Nothing imports this.

In: the settings. Out: one replica: watches, election, admission, probes, and, while it leads,
release and status.
"""

from .admission_endpoint import serving_names
from .enqueue_parts import LOOPBACK, EnqueueParts
from .extender_endpoint import ExtenderEndpoint
from .probes import MetricsPage, Probes
from .process import collect_young, spare_what_stays
