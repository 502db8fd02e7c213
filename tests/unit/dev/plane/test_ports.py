"""Ports for planes: nobody listens there, and planes that start at the same time keep apart."""

import socket

import pytest

from cardquota_dev.plane import ports


def test_what_was_chosen_lately_is_not_chosen_again_before_it_is_bound() -> None:
    chosen = [port for _ in range(4) for port in ports.free_ports(10)]
    assert len(set(chosen)) == 40


def test_processes_begin_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []
    for pid in (1_000, 1_001, 1_119):
        monkeypatch.setattr("os.getpid", lambda pid=pid: pid)
        chosen.append({port // 100 for port in ports.free_ports(9)})
    assert all(len(one) == 1 for one in chosen)
    assert len(set.union(*chosen)) == 3


def test_where_somebody_listens_is_not_free() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert not ports.is_free(taken.getsockname()[1])
