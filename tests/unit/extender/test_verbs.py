"""What kube-scheduler has seen and we have not: waited for, a moment."""

import asyncio

import pytest

from builders import a_ledger, a_node, a_pod, see
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import BindArgs, ExtenderArgs, ExtenderServer, LeaderCall, LeaderClient
from cardquota.metrics import Metrics

pytestmark = pytest.mark.fake_clock


class NoBinder:
    leads = True

    async def bind(self, args: BindArgs) -> str:
        return f"{args.pod_name}: no"


async def test_b4_a_node_that_is_not_known_yet() -> None:
    ledger, notifier = a_ledger(), ChangeNotifier()
    client = LeaderClient(str, lambda: None, server_name="x", timeout=1)
    call = LeaderCall(NoBinder(), client)  # type: ignore[arg-type]
    verbs = ExtenderServer(ledger, notifier, call, lambda: True, Metrics())
    args = ExtenderArgs(a_pod().asking_for_memory(5).wire(), ["n"])
    waiting = asyncio.create_task(verbs.filter(args))
    await asyncio.sleep(0.01)
    see(ledger, a_node("n").sharing_memory(8, 1))
    notifier.notify()
    assert list((await waiting).names) == ["n"]
    found = await verbs.filter(args._replace(names=["n", "other"]))
    assert found.unresolvable == {"other": "node is not known to cardquota"}
    assert await call.bind(BindArgs("p", "team", "uid-p", "n"), passed_on=True) == "p: no"
