"""What kube-scheduler sends, in whatever spelling, and what nobody should send."""

import json
from typing import Any

import pytest

from builders import a_pod
from cardquota.extender import (
    MOST_NODES,
    BindArgs,
    MetaVictims,
    NodeFit,
    WireError,
    bind_call,
    filter_answer,
    read_args,
    read_binding,
    read_preemption,
    victims_answer,
)

POD = a_pod("p").asking_for_memory(1024).body
NO_REVISION = {"metadata": {"uid": "u", "resourceVersion": "x"}}


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_names_in_gos_own_spelling() -> None:
    args = read_args(body(Pod=POD, Nodes=None, NodeNames=["b", "a", "b"]))
    assert (args.pod.metadata.uid, list(args.names), args.nodes) == ("uid-p", ["b", "a"], None)


def test_keys_in_any_case_and_the_last_of_two() -> None:
    args = read_args(b'{"pOD": %s, "nodenames": ["x"], "NODENAMES": ["y"]}' % body(**POD))
    assert list(args.names) == ["y"]


def test_whole_nodes_go_back_as_they_came() -> None:
    items = [{"metadata": {"name": name, "labels": {"k": "v"}}, "spec": {}} for name in "ab"]
    args = read_args(body(Pod=POD, Nodes={"kind": "NodeList", "Items": items}, NodeNames=None))
    assert list(args.names) == ["a", "b"]
    answer = json.loads(filter_answer(args, NodeFit(["b"], {"a": "full"}, {})))
    assert answer["Nodes"]["items"] == [items[1]]
    assert answer["FailedNodes"] == {"a": "full"}
    assert "NodeNames" not in answer


def test_the_answer_of_filter() -> None:
    args = read_args(body(Pod=POD, NodeNames=["a", "b", "c"]))
    found = NodeFit(["a"], {"b": "full"}, {"c": "no"})
    failed = {"FailedNodes": {"b": "full"}, "FailedAndUnresolvableNodes": {"c": "no"}}
    answer = json.loads(filter_answer(args, found))
    assert answer == {"NodeNames": ["a"], "Error": "", **failed}


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "it is no JSON object"),
        (b"x", "it is no JSON object"),
        (b"[]", "it is no JSON object"),
        (b"null", "it is no JSON object"),
        (b"\xff\xfe", "it is no JSON object"),
        (b"[" * 100_000, "it is no JSON object"),
        (b'{"Pod": ' + b"[" * 100_000, "it is no JSON object"),
        (b"{}", "the call has no pod"),
        (body(Pod=None, NodeNames=[]), "the call has no pod"),
        (body(Pod=[], NodeNames=[]), "pod: "),
        (body(Pod={}, NodeNames=[]), "pod: "),
        (body(Pod={"metadata": {}}, NodeNames=[]), "the pod has no uid"),
        (body(Pod=NO_REVISION, NodeNames=[]), "the pod's resourceVersion <x> is not a number"),
        (body(Pod=POD), "neither NodeNames nor Nodes"),
        (body(Pod=POD, NodeNames="a"), "nodenames: "),
        (body(Pod=POD, NodeNames=[1]), "nodenames: "),
        (body(Pod=POD, NodeNames=["a"] * (MOST_NODES + 2)), "NodeNames: more than 50000"),
        (body(Pod=POD, Nodes=[]), "it is no JSON object"),
        (body(Pod=POD, Nodes={"items": [7]}), "Nodes: "),
        (body(Pod=POD, Nodes={"items": [{}]}), "Nodes: "),
        (body(Pod=POD, Nodes={"items": [1] * (MOST_NODES + 1)}), "more than 50000 items"),
        (body(Pod=POD, Nodes={"items": [1] * 400_000}), "Nodes .*: more than 350000"),
        (body(Pod=POD, Nodes={"Items": [1] * 50_000}), "Nodes: more than 40000"),
        (body(**{f"k{i}": 1 for i in range(41_000)}), "the call: more than 40000"),
        (body(Pod={"spec": {"x": "x" * 600_000}}, NodeNames=[]), "the pod: more than"),
    ],
)
def test_what_cannot_be_read(sent: bytes, words: str) -> None:
    with pytest.raises(WireError, match=words):
        read_args(sent)


def test_a_binding_there_and_back() -> None:
    args = BindArgs("p", "team", "uid-p", "n1")
    assert read_binding(bind_call(args)) == args
    assert (
        read_binding(b'{"podname":"p","PODNAMESPACE":"team","podUID":"uid-p","node":"n1"}') == args
    )


@pytest.mark.parametrize("key", ["PodName", "PodNamespace", "PodUID", "Node"])
@pytest.mark.parametrize("value", [None, "", 7])
def test_a_binding_that_lacks_something(key: str, value: object) -> None:
    fields = {"PodName": "p", "PodNamespace": "team", "PodUID": "u", "Node": "n", key: value}
    with pytest.raises(WireError, match=key.lower() if value == 7 else f"{key} is missing"):
        read_binding(body(**fields))


def test_victims_by_uid_and_as_whole_pods() -> None:
    uids = {"n1": {"Pods": [{"UID": "a"}, {"uid": "b"}], "NumPDBViolations": 1}, "n2": None}
    wanted = {"n1": MetaVictims(["a", "b"], 1), "n2": MetaVictims(())}
    assert read_preemption(body(Pod=POD, NodeNameToMetaVictims=uids)).victims == wanted
    pods = [{"metadata": {"uid": uid}, "spec": {}} for uid in "ab"]
    whole = {"n1": {"Pods": pods, "NumPDBViolations": 1}, "n2": {"Pods": None}}
    found = read_preemption(body(Pod=POD, NodeNameToVictims=whole, NodeNameToMetaVictims={}))
    assert found.victims == {"n1": wanted["n1"], "n2": MetaVictims([])}


@pytest.mark.parametrize(
    "victims", [7, {"n1": 7}, {"n1": {"Pods": [7]}}, {"n1": {"NumPDBViolations": "x"}}]
)
@pytest.mark.parametrize("key", ["NodeNameToVictims", "NodeNameToMetaVictims"])
def test_victims_that_cannot_be_read(key: str, victims: object) -> None:
    with pytest.raises(WireError):
        read_preemption(body(Pod=POD, **{key: victims}))


def test_names_that_are_no_unicode() -> None:
    pod = json.dumps(POD).encode()
    for key in (b"NodeNameToVictims", b"NodeNameToMetaVictims"):
        victims = (
            b'{"n1": {"Pods": [{"uid": "\xed\xa0\x80", "metadata": {"uid": "\xed\xa0\x80"}}]}}'
        )
        with pytest.raises(WireError):
            read_preemption(b'{"Pod": %b, "%b": %b}' % (pod, key, victims))
    nodes = b'{"items": [{"metadata": {"name": "\xed\xa0\x80"}}]}'
    with pytest.raises(WireError):
        read_args(b'{"Pod": %b, "Nodes": %b}' % (pod, nodes))


def test_what_would_take_long_to_read_is_not_read() -> None:
    for key in ("NodeNameToVictims", "NodeNameToMetaVictims"):
        many: dict[str, Any] = {f"n{i}": {"Pods": []} for i in range(41_000)}
        with pytest.raises(WireError, match="the victims: more than 40000"):
            read_preemption(body(Pod=POD, **{key: many}))
    with pytest.raises(WireError, match="the call: more than 40000"):
        read_binding(body(**{f"k{i}": 1 for i in range(41_000)}))


def test_the_answer_of_preempt() -> None:
    answer = json.loads(victims_answer({"n1": MetaVictims(["a"], 2), "n2": MetaVictims(())}))
    one = {"Pods": [{"UID": "a"}], "NumPDBViolations": 2}
    none = {"Pods": [], "NumPDBViolations": 0}
    assert answer == {"NodeNameToMetaVictims": {"n1": one, "n2": none}}
