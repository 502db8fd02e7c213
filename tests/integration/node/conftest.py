"""A node for tests, one after the other: a Python kubelet, the agent as a process with cards from a
file, and its object at the real API server.
"""

import secrets
from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster

from .agent_process import AgentNode, agent_node


@pytest.fixture(scope="module")
def kept_node(plane: Cluster) -> Iterator[AgentNode]:
    name = f"node-{secrets.token_hex(4)}"
    with agent_node(plane, "default", name, sizes=(16_376, 8_188)) as node:
        yield node


@pytest.fixture
def two_cards(kept_node: AgentNode, namespace: str) -> AgentNode:
    """A node with a card of 16 GiB and one of 8 GiB, in MiB, as if it were new."""
    kept_node.namespace = namespace
    kept_node.as_at_first()
    return kept_node
