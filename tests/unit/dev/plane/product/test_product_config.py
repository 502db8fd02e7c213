import asyncio
from pathlib import Path

import pytest

from cardquota.settings import Extender
from cardquota_dev.failure import PlaneError
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.options import Options
from cardquota_dev.plane.ports import free_ports
from cardquota_dev.plane.product.extender import extender_config, listen
from cardquota_dev.plane.product.product import laid_over, read_config, replica_config


def test_the_plane_decides_where_things_listen() -> None:
    theirs = {"webhook": {"port": 1, "timeoutSeconds": 3}, "leaderElection": {"settle": 1}}
    assert replica_config(theirs, 2, webhook=9001, metrics=9002, probes=9003, front=9000) == {
        "webhook": {
            "port": 9001,
            "timeoutSeconds": 3,
            "host": "127.0.0.1",
            "url": "https://127.0.0.1:9000",
        },
        "leaderElection": {"settle": 1, "identity": "cardquota-2"},
        "metrics": {"host": "127.0.0.1", "port": 9002},
        "probes": {"host": "127.0.0.1", "port": 9003},
    }


def test_nothing_is_changed_in_place() -> None:
    theirs = {"webhook": {"port": 1}}
    replica_config(theirs, 0, webhook=9001, metrics=9002, probes=9003, front=9001)
    assert theirs == {"webhook": {"port": 1}}


def test_a_mapping_takes_the_place_of_what_is_none() -> None:
    assert laid_over({"a": None, "b": [1]}, {"a": {"x": 1}}) == {"a": {"x": 1}, "b": [1]}


def test_a_partial_file_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("mode: audit\n")
    assert read_config(file) == {"mode": "audit"}
    file.write_text("")
    assert read_config(file) == {}
    assert read_config(None) == {}


@pytest.mark.parametrize("text", ["- a\n", "a: [\n", "7\n"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(PlaneError, match=r"config\.yaml"):
        read_config(file)


def test_a_replica_says_where_it_is_asked_and_where_it_is_itself() -> None:
    """kube-scheduler asks at the balancer; the replicas pass a bind on to the leader itself."""
    own = extender_config(own=9003, front=9000)["extender"]
    assert Extender.model_validate(own) == Extender(
        enabled=True,
        host="127.0.0.1",
        port=9003,
        url="https://127.0.0.1:9000",
        advertise="127.0.0.1:9003",
    )


async def test_who_listens() -> None:
    ports = free_ports(2)
    servers = [
        await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port)
        for port in ports
    ]
    assert await listen(ports)
    servers[1].close()
    await servers[1].wait_closed()
    assert not await listen(ports)
    servers[0].close()


@pytest.mark.parametrize("extender", [False, True])
def test_the_command_line_says_whether_it_is_asked(tmp_path: Path, extender: bool) -> None:
    options = Options(Folder(tmp_path), extender=extender)
    assert ("--extender" in options.arguments()) == extender
