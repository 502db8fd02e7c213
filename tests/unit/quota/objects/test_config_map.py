"""B2: the ConfigMaps that say which cards of a node are broken."""

import pytest
from msgspec.json import decode

from cardquota.quota.objects import ConfigMap


@pytest.mark.parametrize(
    ("body", "node", "text"),
    [
        ('{"metadata":{"name":"unhealthy-gpu-n1"},"data":{"gpus":"0,2","x":"y"}}', "n1", "0,2"),
        ('{"metadata":{"name":"unhealthy-gpu-n1"},"data":{"gpus":""}}', "n1", ""),
        ('{"metadata":{"name":"unhealthy-gpu-n1"},"data":{"gpu":"1"}}', "n1", "no key gpus"),
        ('{"metadata":{"name":"unhealthy-gpu-n1"}}', "n1", "no key gpus"),
        ('{"metadata":{"name":"coredns"},"data":{"Corefile":"x"}}', "", "no key gpus"),
    ],
)
def test_b2_a_list_of_broken_cards(body: str, node: str, text: str) -> None:
    found = decode(body, type=ConfigMap)
    assert (found.node, found.text) == (node, text)
