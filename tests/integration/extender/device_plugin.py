"""A stand-in for the device plugin of the card memory protocol, for one node.

The real one needs a GPU. What it does with pods is done here in the same way: in the order of
`ALIYUN_COM_GPU_MEM_ASSUME_TIME` it takes those that were bound and have not got their card, sets
`ALIYUN_COM_GPU_MEM_ASSIGNED`, and writes the time anew. It keeps nothing in memory: it may end at
any moment, and begin again.
"""

import time

from cardquota.quota import vocabulary as v
from integration.asking import ask

from .shared_cards import PLUGIN, PLUGINS_GROUPS, Shelf


class DevicePlugin:
    """One life of the plugin of one node."""

    def __init__(self, shelf: Shelf, node: str) -> None:
        self._shelf = shelf
        self._node = node

    def waiting(self) -> list[str]:
        """Names of pods that were bound here and have not got their card, in order."""
        listed = ask(self._shelf.plane, "GET", self._shelf.pods).body["items"]
        found = []
        for pod in listed:
            notes = pod["metadata"].get("annotations", {})
            here = pod["spec"].get("nodeName") == self._node
            if here and notes.get(v.GPU_MEMORY_ASSIGNED) == "false":
                found.append((int(notes[v.GPU_MEMORY_ASSUMED_AT]), pod["metadata"]["name"]))
        return [name for _, name in sorted(found)]

    def give_cards(self, most: int = 1_000) -> list[str]:
        """Give the next pods their cards, at most so many. Their names."""
        given = self.waiting()[:most]
        for name in given:
            notes = {v.GPU_MEMORY_ASSIGNED: "true", v.GPU_MEMORY_ASSUMED_AT: str(time.time_ns())}
            body = {"metadata": {"annotations": notes}}
            reply = self._shelf.change(name, body, as_user=PLUGIN, as_groups=PLUGINS_GROUPS)
            assert reply.ok, reply.message
        return given
