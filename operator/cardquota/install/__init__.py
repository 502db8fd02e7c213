"""What an administrator applies: webhook objects and policies.

In: the settings. Out: `manifests`, the same objects for the same settings, and `comparison`, which
finds where those in the cluster differ.
"""

from .comparison import differences
from .manifests import documents, render, webhook_paths
from .matching import is_ours
from .rights import Right, in_words
from .scheduler_configuration import managed_resources, scheduler_text
from .webhook_objects import ENFORCED, WORKLOADS
