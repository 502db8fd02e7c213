"""Builders that let a test read like a sentence: a queue with H200 3, a pod that asks for 2."""

from .body import Body
from .cluster import CARDS, a_ledger, see
from .group import a_group
from .names import GPU, H200, H200_MIG, H800, H800_MPS, R4090, R4090D, SHARED
from .namespace import a_namespace
from .node import a_node
from .pod import a_pod
from .queue import a_queue
from .volcano_job import a_volcano_job

__all__ = [
    "CARDS",
    "GPU",
    "H200",
    "H200_MIG",
    "H800",
    "H800_MPS",
    "R4090",
    "R4090D",
    "SHARED",
    "Body",
    "a_group",
    "a_ledger",
    "a_namespace",
    "a_node",
    "a_pod",
    "a_queue",
    "a_volcano_job",
    "see",
]
