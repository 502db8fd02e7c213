"""How much of what users write is read: every bound, in one place (P8).

A limit is above what charts in use need (`docs/rules.md` says which were examined), and so low that
plain code serves every object within it. An object that exceeds a limit costs one look at its size.
It is refused when it is written, with the number found and the limit. If it is stored all the same,
it is handled as each limit's own text says.

Sizes are bytes of UTF-8, as Kubernetes counts them. `docs/reference.md` has all limits, with their
docstrings and the comments above each group.
"""

import re
from typing import Final, NamedTuple

from . import vocabulary as v

KIB: Final = 1024
LONGEST_OBJECT_NAME: Final = 253
"""Characters, all ASCII: an RFC 1123 subdomain, as the names of all our objects are."""


class Limit(NamedTuple):
    """One bound. `what` is its name in sentences: `containers`, or the name of a text."""

    what: str
    most: int
    sized: bool = False
    """Whether `most` is bytes, not a number of things."""


class Excess(NamedTuple):
    """A limit that is or would be exceeded, and the number that was found."""

    limit: Limit
    found: int


# --- pods: beyond one of these a pod waits, and nothing of its text is kept -------------------
CARD_TEXT: Final = Limit(f"annotation {v.CARD_NAME}", 2 * KIB, sized=True)
"""Room for as many names of 127 characters as it may have. Kept as long as the pod exists."""
ALTERNATIVES: Final = Limit(f"alternatives in {v.CARD_NAME}", 16)
"""Each is judged separately, at every decision."""
QUEUE_TEXT: Final = Limit(f"annotation {v.QUEUE_NAME}", LONGEST_OBJECT_NAME, sized=True)
"""No Queue can have a longer name."""
GROUP_TEXT: Final = Limit(f"annotation {v.GROUP_NAME}", LONGEST_OBJECT_NAME, sized=True)
"""No PodGroup can have a longer name."""
CONTAINERS: Final = Limit("containers", 64)
"""Of all kinds together, init containers included. Each is read."""
RESOURCE_ENTRIES: Final = Limit("entries in its containers' limits and requests", 512)
"""Each is a quantity that is parsed, in some two microseconds."""
RESOURCES: Final = Limit("resource names", 32)
"""Different names, cpu and memory included. A pod is indexed by each device that it asks for."""
RESOURCE_TEXT: Final = Limit("the name of a resource", 317, sized=True)
"""Kubernetes' own bound: a prefix of 253, a slash and 63."""
TERMS: Final = Limit("node affinity terms", 32)
"""Each is matched against the cards and the labels of nodes."""
EXPRESSIONS: Final = Limit("requirements in its node selector and affinity", 128)
"""Of all terms together, and the labels of the node selector."""
COMPARISONS: Final = Limit("requirements with Gt or Lt in its affinity", 16)
"""Each reads the numbers that nodes have under its label."""
VALUES: Final = Limit("values in its node affinity", 1_024)
"""Of all terms together."""
SELECTOR_TEXT: Final = Limit("the text of its node selector and affinity", 16 * KIB, sized=True)
"""Keys, operators and values together. Kept as long as the pod waits."""
TOLERATIONS: Final = Limit("tolerations", 64)
"""Each is compared with the taints of nodes."""
TOLERATION_TEXT: Final = Limit("the text of its tolerations", 4 * KIB, sized=True)
"""Kept as long as the pod waits."""
GATES: Final = Limit("scheduling gates", 16)
"""Kept as long as the pod waits, and written again when our gate is removed."""
GATE_TEXT: Final = Limit("the text of its scheduling gates", 4 * KIB, sized=True)
"""Kept as long as the pod waits."""
OWNERS: Final = Limit("owner references", 16)
"""They are searched for the controller."""
OWNER_TEXT: Final = Limit("the kind and name of a controller", 2 * LONGEST_OBJECT_NAME, sized=True)
"""Both are kept."""

# --- any object: beyond it nothing of it is decoded but who it is and what it holds -------------
BODY: Final = Limit("the object", 512 * KIB, sized=True)
"""Its JSON, in a review and in a watch. etcd stores pods in a shorter form, so it accepts some that
are longer. The worst JSON of this length takes some 20 ms to decode."""

# --- what is kept of all objects of a kind, together: beyond it an object is not read ----------
MIB: Final = KIB * KIB
WAITING_PODS: Final = Limit("the pods that wait", 96 * MIB, sized=True)
"""40,000 usual ones."""
WAITING_PODS_OF_ONE: Final = Limit("the pods of its namespace that wait", 32 * MIB, sized=True)
"""The share of one namespace in it, so that no namespace, nor two, make the pods of others wait."""
IDLE_GROUPS: Final = Limit("the pod groups that hold nothing", 48 * MIB, sized=True)
"""13,000 usual ones."""
IDLE_GROUPS_OF_ONE: Final = Limit(
    "the pod groups of its namespace that hold nothing", 24 * MIB, sized=True
)
"""The share of one namespace in it."""
QUEUES: Final = Limit("the queues", 64 * MIB, sized=True)
"""5,000 usual ones with 6 rows each. A queue beyond it has the quota that it had before."""

# --- queues: refused at write; if stored all the same, the queue is open to no namespace ------
NAMESPACES_TEXT: Final = Limit(f"annotation {v.NAMESPACES}", 64 * KIB, sized=True)
"""The same as for a quota."""
NAMESPACES: Final = Limit(f"entries in annotation {v.NAMESPACES}", 1_000)
"""Names are looked up. Entries with wildcards have a lower limit."""
NAMESPACE_TEXT: Final = Limit(f"an entry of annotation {v.NAMESPACES}", 128, sized=True)
"""Twice the length of a namespace's name. Only `*` or `[` could make a longer entry match one."""
PATTERNS: Final = Limit(f"entries with wildcards in annotation {v.NAMESPACES}", 100)
"""Each is compared with a pod's namespace."""

# --- what only the operator writes: a longer one is none of ours -----------------------------
ALLOCATED_TEXT: Final = Limit(f"annotation {v.ALLOCATED}", 32 * KIB, sized=True)
"""One row for each device that a pod asks for."""
RESERVATION_TEXT: Final = Limit(f"annotation {v.RESERVATION}", 256 * KIB, sized=True)
"""What Kubernetes allows for all annotations of an object: we can always read what we wrote."""
PLAN_VICTIMS: Final = Limit("pods that end for one that waits", 100)
"""Each is asked for by itself. Who needs more gets no plan (L5)."""
PLAN_TEXT: Final = Limit(f"annotation {v.RECLAIM_PLAN}", 8 * KIB, sized=True)
"""A uid of 36 characters for each of these pods."""
TERM_TEXT: Final = Limit(f"annotation {v.TERM}", KIB, sized=True)
"""The name of a host and some characters."""

GROUP_CARDS_TEXT: Final = Limit("status.columns.cards of a pod group", KIB, sized=True)
"""Three choices of two cards, each name cut after 80 characters."""

# --- workloads: a longer template is not kept, so scaling such a workload is not judged ---------
TEMPLATE_TEXT: Final = Limit("what is read of a workload's pod template", 8 * KIB, sized=True)
"""Kept as long as the workload exists. Charts in use have some hundred bytes, and with a long node
affinity one or two KiB. Its pods get their own answers."""

WORKLOADS: Final = Limit("the workloads with cards", 48 * MIB, sized=True)
"""40,000 usual ones. Those that come after that are not kept until they change again."""
WORKLOADS_OF_ONE: Final = Limit("those of one namespace", 16 * MIB, sized=True)
"""The share of one namespace in it."""

BORROWERS: Final = Limit("ReplicaSets of a queue whose pods wait and may borrow", 1_000)
"""Of one queue that lends cards. Pods of others wait for the quota."""

# --- nodes: their cards are not counted, and that is reported (D9) -----------------------------
NODE_LABELS: Final = Limit("labels", 1_000)
"""All are kept: pods may pick nodes by any of them."""
NODE_TAINTS: Final = Limit("taints", 250)
"""Kept, and compared with tolerations."""
NODE_RESOURCES: Final = Limit("resource names in its allocatable", 1_000)
"""Each may be a card."""

# --- gangs: beyond it none of the gang is released, and an event says so --------------------
GANG_KINDS: Final = Limit("different requests", 16)
"""Of the members that start together. Each is judged, and all of them without a pause. Charts have
a handful: a launcher, workers, a head."""

# --- what a pod group says that it will ask for: beyond one of these it cannot be read -----------
REQUEST_TEXT: Final = Limit(f"annotation {v.REQUEST}", 5 * KIB, sized=True)
"""Kept as long as the group exists. Room for as many names of 63 characters as it may name."""
REQUEST_CARDS: Final = Limit(f"cards in annotation {v.REQUEST}", 16)
"""Alternatives of all its rows together. Each is judged, all of them without a pause."""

# --- pod groups: refused at write; if stored all the same, never so many pods exist -------------
MIN_MEMBER: Final = Limit("pods that start together (spec.minMember)", 10_000)
"""Ten times the largest gangs in use."""
TASKS: Final = Limit("tasks in spec.minTaskMember", 64)
"""Each is added up when the group is written. Jobs have a handful."""

# --- Jobs of Volcano: one with more is admitted unread, and told; its pods get their own answers --
JOB_TASKS: Final = Limit("tasks", 64)
"""The same as of a pod group. The pods of each are judged when the Job is created."""

MOST_MEMBERS: Final = 2**31 - 1
"""The largest `minMember` that the API server accepts for a pod group. More is read as this."""

_OBJECT_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
"""Nearly: it allows two dots in a row, which the API server refuses."""
_SHOWN: Final = 80
"""Characters that are kept of a name that is too long."""


def size_of(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def is_object_name(text: str) -> bool:
    """Whether an object can have this name. Some impossible names pass."""
    return len(text) <= LONGEST_OBJECT_NAME and _OBJECT_NAME.fullmatch(text) is not None


def kept_name(text: str) -> str:
    """A name as it is kept: without space around it, as a line's end that a template left. One that
    is too long is cut, and its end marks it as no valid name.
    """
    text = text.strip()
    return text if len(text) <= LONGEST_OBJECT_NAME else text[:_SHOWN] + "..."
