"""Shared cards of a test's own, for whoever asks."""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster

from .shared_cards import SharedCards, cards_of_a_test


@pytest.fixture
def one_node(extender_plane: Cluster, namespace: str, unique: str) -> Iterator[SharedCards]:
    """A node with two cards."""
    with cards_of_a_test(extender_plane, unique, namespace, nodes=1) as cards:
        yield cards


@pytest.fixture
def three_nodes(extender_plane: Cluster, namespace: str, unique: str) -> Iterator[SharedCards]:
    """Three nodes, each with two cards."""
    with cards_of_a_test(extender_plane, unique, namespace, nodes=3) as cards:
        yield cards


@pytest.fixture
def four_cards(extender_plane: Cluster, namespace: str, unique: str) -> Iterator[SharedCards]:
    """A node with four cards."""
    with cards_of_a_test(extender_plane, unique, namespace, nodes=1, cards=4) as cards:
        yield cards
