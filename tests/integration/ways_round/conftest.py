"""Every way round the quota that we know of, one file per family. `docs/ways-round.md` lists them.

What stands elsewhere is not repeated: the policies one by one in `install/test_policies.py`, the
refusals of pods in `admission/test_pod_refusals.py`, those of namespaces in
`install/test_namespace_policies.py`, those of queues in
`admission/test_queue_writes.py`, gangs in `release/test_gangs.py`, gates in
`release/test_opening.py`, namespaces that demand or forgo rules in `admission/test_reach.py`.
"""

import pytest

from integration.team import Team

from .people import invite


@pytest.fixture
def people(team: Team) -> Team:
    """The team, with those who try."""
    invite(team)
    return team
