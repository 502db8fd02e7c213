"""A node of a test's own: a Python kubelet, the agent as a process with cards from a file, and its
object at the real API server.
"""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster

from .agent_process import AgentNode, agent_node


@pytest.fixture
def two_cards(plane: Cluster, namespace: str, unique: str) -> Iterator[AgentNode]:
    """A node with a card of 16 GiB and one of 8 GiB, in MiB."""
    with agent_node(plane, namespace, f"{unique}-node", sizes=(16_376, 8_188)) as node:
        yield node
