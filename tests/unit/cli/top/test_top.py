"""What `top` prints of queues, wherever their numbers are published."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from builders import H200, a_node, a_pod
from cardquota.cli.app import app
from cardquota.cli.output import Output
from cardquota.cli.plugin import plugin
from cardquota.cli.top import MOST_PODS, CardUse, PublishedQueue, PublishedQueues, lines, notes
from cardquota.cli.top.wide_lines import wide_lines
from cardquota.quota import vocabulary as v
from cardquota.quota.reports import OutsideUse

from ..answering_api import NOT_SERVED, Answer, answering

PATH = "/apis/scheduling.volcano.sh/v1beta1/queues"
STATUS: dict[str, Any] = {
    "cards": [{"name": H200, "quota": 3, "allocated": 2}],
    "columns": {"cards": f"{H200} 2/3", "inqueue": "-", "elastic": "-", "cpu": "1/4"},
}
TEXT = json.dumps(STATUS)
NOBODY = CardUse(OutsideUse(0, {}), {})


def queue(name: str, status: object = None, note: object = None) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if note is not None:
        meta["annotations"] = {v.STATUS: note}
    return {"metadata": meta, "spec": {}, "status": status}


def listing(*items: object) -> Answer:
    return 200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": items})


GROUP = "/apis/scheduling.volcano.sh/v1beta1"
NO_PODS = {"/api/v1/pods": listing(), "/api/v1/nodes": listing()}


async def top(
    answer: Answer, folder: Path, *options: str, pods: Mapping[str, Answer] = NO_PODS
) -> Result:
    others = {"/api/v1/namespaces": listing(), f"{GROUP}/podgroups": listing()}
    async with answering({PATH: answer, **others, **pods}, folder) as kubeconfig:
        arguments = ["top", "--kubeconfig", str(kubeconfig), *options]
        return await asyncio.to_thread(CliRunner().invoke, plugin, arguments)


@pytest.mark.parametrize(
    "published",
    [
        queue("q", {**STATUS, "state": "Closed"}),
        queue("q", {"state": "Closed", "allocated": {"cpu": "1"}}, TEXT),
        # What the status says is newer: our definition took the place of Volcano's.
        queue("q", {**STATUS, "state": "Closed"}, json.dumps({**STATUS, "columns": {}})),
    ],
)
async def test_the_numbers_are_shown_wherever_they_are(
    tmp_path: Path, published: dict[str, Any]
) -> None:
    found = await top(listing(published), tmp_path)
    assert found.exit_code == 0, found.output
    head, row = found.output.splitlines()
    assert head.split() == [
        *("NAME", "STATE", "CARDS", "INQUEUE", "ELASTIC", "REQUESTED", "CPU", "MEMORY"),
        *("WAITING", "NOTE", "AGE"),
    ]
    assert row.split()[:4] == ["q", "Closed", H200, "2/3"]
    assert row.split()[-1].endswith("d")


async def test_for_programs_it_is_the_whole_status(tmp_path: Path) -> None:
    bare = {"cards": [], "columns": {"cards": "-"}}  # as Volcano's queue without a quota
    noted = queue("d", {"allocated": {"cpu": "1"}}, json.dumps(bare))
    answer = listing(queue("a", STATUS), queue("b", {}, TEXT), queue("c"), noted, queue("e", bare))
    found = await top(answer, tmp_path, "-o", "json")
    assert json.loads(found.stdout) == {
        "queues": [
            {"name": "a", "state": "Open", "publishedIn": "status", "status": STATUS},
            {"name": "b", "state": "Open", "publishedIn": "annotation", "status": STATUS},
            {"name": "c", "state": "Open", "publishedIn": None, "status": {}},
            {"name": "d", "state": "Open", "publishedIn": "annotation", "status": bare},
            {"name": "e", "state": "Open", "publishedIn": "status", "status": bare},
        ],
        "outside": {"pods": 0, "cards": {}},
        "free": {},
        "unreadable": [],
        "notes": [
            (
                "no numbers are published for c: see whether a replica leads (metric "
                "cardquota_leader), and what its log says"
            )
        ],
    }


async def test_a_queue_without_numbers_is_named(tmp_path: Path) -> None:
    found = await top(listing(queue("a"), queue("b", {}, TEXT)), tmp_path)
    note, _, _, silent, _ = found.output.splitlines()
    assert note == (
        "note: no numbers are published for a: see whether a replica leads (metric "
        "cardquota_leader), and what its log says"
    )
    assert silent.split()[:3] == ["a", "Open", "-"]


FREE = a_pod("free").managed().asking_for(2).on_node("n")
OURS = a_pod("ours").with_uid("ours").in_queue("q").managed().asking_for(1).on_node("n")


async def test_v5_what_is_used_outside_every_queue_stands_below(tmp_path: Path) -> None:
    node = a_node("n").with_cards(H200, 8)
    used = {"/api/v1/pods": listing(FREE.body, OURS.body), "/api/v1/nodes": listing(node.body)}
    found = await top(listing(queue("q", STATUS)), tmp_path, pods=used)
    assert (found.exit_code, found.output.splitlines()[2:]) == (
        0,
        ["", f"used outside every queue: {H200} 2, by 1 pod (team/free)"],
    )
    found = await top(listing(queue("q", STATUS)), tmp_path, "-o", "json", pods=used)
    assert json.loads(found.stdout)["outside"] == {"pods": 1, "cards": {H200: 2}}


@pytest.mark.parametrize("kind", ["pods", "nodes"])
@pytest.mark.parametrize("status", [403, 500])
async def test_v5_where_it_is_not_known_the_queues_are_shown_all_the_same(
    tmp_path: Path, kind: str, status: int
) -> None:
    hidden = {**NO_PODS, f"/api/v1/{kind}": (status, '{"reason": "Forbidden", "message": "no"}')}
    found = await top(listing(queue("q", STATUS)), tmp_path, pods=hidden)
    assert found.exit_code == 0
    note, _, _, row = found.output.splitlines()
    may_not = f"note: you may not list {kind}: no: "
    assert note.startswith(may_not if status == 403 else f"note: cannot list {kind}: 500 ")
    assert note.endswith(": what is used outside every queue is not shown")
    assert row.split()[0] == "q"
    found = await top(listing(queue("q", STATUS)), tmp_path, "-o", "json", pods=hidden)
    assert json.loads(found.stdout)["outside"] is None


async def test_no_queues(tmp_path: Path) -> None:
    found = await top(listing(), tmp_path)
    assert (found.exit_code, found.output) == (0, "No queues.\n")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (NOT_SERVED, "cardquota: the cluster has no definition of Queue; apply the manifests"),
        ((403, '{"code": 403, "reason": "Forbidden", "message": "no"}'), "queues"),
        ((500, "oops"), "queues"),
        ((200, "no list"), "the answer is not a list of Kubernetes objects"),
    ],
)
async def test_what_cannot_be_listed_is_said_in_one_line(
    tmp_path: Path, answer: Answer, says: str
) -> None:
    found = await top(answer, tmp_path)
    assert found.exit_code == 1
    assert says in found.stderr
    assert found.stderr.count("\n") == 1


async def test_one_bad_queue_costs_no_other(tmp_path: Path) -> None:
    """And nothing of it reaches the terminal as it is."""
    odd: list[Any] = [
        queue("a", {"cards": "x", "columns": {"cards": "\x1b[31mred", "cpu": 7}}),
        queue("b", [1], 7),
        queue("c", {"state": {"a": 1}, "columns": []}, "[" * 50_000),
        queue("d", STATUS),
        {"metadata": 7},
    ]
    found = await top(listing(*odd), tmp_path)
    assert found.exit_code == 0, found.output
    assert "\x1b" not in found.output
    assert "left out: queue" in found.output
    assert f"{H200} 2/3" in found.output


@pytest.mark.parametrize(
    ("seconds", "age"), [(0, "0s"), (119, "119s"), (120, "2m"), (7_200, "2h"), (200_000, "2d")]
)
def test_ages_are_short(seconds: int, age: str) -> None:
    one = PublishedQueue("q", 5_000, "", STATUS, in_annotation=False)
    text = [
        line.plain for line in lines(PublishedQueues([one], []), 5_000 + seconds * 1_000, NOBODY)
    ]
    assert text[-1].endswith(f" {age}")
    unknown = PublishedQueue("q", None, "", STATUS, in_annotation=False)
    assert next(reversed(list(lines(PublishedQueues([unknown], []), 0, NOBODY)))).plain.endswith(
        " -"
    )


def test_no_cluster_is_another_exit_code(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["top", "--kubeconfig", str(tmp_path / "none")])
    assert found.exit_code == 2


CARDS = [
    {"name": H200, "quota": 4, "allocated": 1, "inqueue": 2, "requested": 5, "elastic": 0},
    {"name": "Other", "quota": 2, "allocated": 3, "deserved": 2, "inqueue": "x", "offline": 2},
    "no row",
]
WIDE = queue("q", {**STATUS, "cards": CARDS})
HEAD = [
    *("QUEUE", "STATE", "CARD", "QUOTA", "ALLOCATED", "ON-LINE", "OFF-LINE", "INQUEUE"),
    *("ELASTIC", "REQUESTED", "GUARANTEE", "DESERVED", "FREE", "NOTE"),
]


async def test_wide_has_a_row_for_each_card_with_what_is_free_on_nodes(tmp_path: Path) -> None:
    nodes = (a_node("n").with_cards(H200, 8), a_node("m").with_cards(H200, 4))
    nodes[1].body["spec"] = {"unschedulable": True}
    used = {"/api/v1/pods": listing(OURS.body), "/api/v1/nodes": listing(*(n.body for n in nodes))}
    found = await top(listing(WIDE, queue("r")), tmp_path, "-o", "wide", pods=used)
    assert found.exit_code == 0, found.output
    table = [line.split() for line in found.stdout.splitlines()]
    rows = table[table.index(HEAD) + 1 :][:3]
    assert rows == [
        # An older operator says nothing of on-line and off-line use.
        ["q", "Open", H200, "4", "1", "-", "-", "2", "0", "5", "-", "-", "7"],
        ["q", "Open", "Other", "2", "3", "1", "2", *"----", "2", "0"],
        ["r", "Open", *"-" * 11],
    ]
    hidden = {**NO_PODS, "/api/v1/nodes": NOT_SERVED}
    found = await top(listing(WIDE), tmp_path, "-o", "wide", pods=hidden)
    assert [line.split()[-1] for line in found.stdout.splitlines()[-2:]] == ["-", "-"]
    assert "cannot list nodes: 404" in found.stdout


async def test_wide_says_once_what_is_wrong_with_a_queue(tmp_path: Path) -> None:
    noted = {**STATUS, "cards": CARDS, "columns": {"note": "over quota: Other 3/2"}}
    found = await top(listing(queue("q", noted)), tmp_path, "-o", "wide")
    ends = ["over quota: Other 3/2" in line for line in found.stdout.splitlines()[-2:]]
    assert ends == [True, False]


@pytest.mark.parametrize("kind", ["namespaces", "podgroups"])
async def test_v5_where_queues_of_pods_are_not_known_nor_is_what_is_outside(
    tmp_path: Path, kind: str
) -> None:
    """A pod may be in its namespace's queue, or in its group's. What is free is known."""
    path = "/api/v1/namespaces" if kind == "namespaces" else PODGROUPS
    used = {
        "/api/v1/pods": listing(FREE.body),
        "/api/v1/nodes": listing(a_node("n").with_cards(H200, 8).body),
        path: (403, '{"reason": "Forbidden", "message": "no"}'),
    }
    note = f"you may not list {kind}: no: what is used outside every queue is not shown"
    found = await top(listing(queue("q", STATUS)), tmp_path, pods=used)
    assert f"note: {note}" in found.stdout.splitlines()
    assert "used outside every queue:" not in found.stdout
    found = await top(listing(queue("q", STATUS)), tmp_path, "-o", "yaml", pods=used)
    data = yaml.safe_load(found.stdout)
    assert (data["outside"], data["free"], data["notes"]) == (None, {H200: 6}, [note])


PODGROUPS = "/apis/scheduling.volcano.sh/v1beta1/podgroups"
WAITING = {"pods": 5, "oldest": "2026-01-01T00:10:00Z"}
OLDEST = 1_767_226_200_000
"""The same moment, milliseconds since 1970."""


@pytest.mark.parametrize("output", [Output.TEXT, Output.WIDE])
def test_t7_how_many_wait_and_for_how_long(output: Output) -> None:
    """Without reading a pod. Of wide output in rows of their own: the others are of cards."""
    one = PublishedQueue("q", 0, "", {**STATUS, "waiting": WAITING}, in_annotation=False)
    other = PublishedQueue("r", 0, "", {**STATUS, "waiting": {"pods": 0}}, in_annotation=False)
    found = PublishedQueues([one, other], [])
    shown = [line.plain for line in lines(found, OLDEST + 720_000, NOBODY, output=output)]
    if output is Output.TEXT:
        assert ["5 (12m)" in row for row in shown] == [False, True, False]
        assert shown[2].split()[-2] == "-"
    else:
        assert [row.split() for row in shown[-3:]] == [
            [],
            ["QUEUE", "WAITING", "OLDEST"],
            ["q", "5", "12m"],
        ]


@pytest.mark.parametrize("said", [None, 5, {"pods": True}, {"pods": "5"}, {"pods": -1}, {}, []])
def test_what_is_no_number_of_pods_that_wait_is_none(said: object) -> None:
    one = PublishedQueue("q", 0, "", {**STATUS, "waiting": said}, in_annotation=False)
    assert one.waiting == (0, None)
    timeless = {"waiting": {"pods": 2, "oldest": "yesterday"}}
    assert PublishedQueue("q", 0, "", timeless, in_annotation=False).waiting == (2, None)


def test_a_terminal_gets_bars() -> None:
    one = PublishedQueue("q", 0, "", {"cards": CARDS}, in_annotation=False)
    table = wide_lines(PublishedQueues([one], []), None, bars=True)
    assert [line.plain.removesuffix("NOTE").split()[-1] for line in table] == [
        "ALLOCATED/QUOTA",
        "█" * 5 + "░" * 15,
        "█" * 20,
    ]
    nothing = [{"name": "a", "quota": 0, "allocated": 0}]
    one = PublishedQueue("q", 0, "", {"cards": nothing}, in_annotation=False)
    (_, row) = wide_lines(PublishedQueues([one], []), {}, bars=True)
    assert row.plain.endswith(" " + "░" * 20)


async def test_many_pods_are_not_read_for_the_default_answer(tmp_path: Path) -> None:
    """One page is; who asks for more columns, or for data, waits for all."""
    node = a_node("n").with_cards(H200, 8)
    names = [f"free-{i}" for i in range(MOST_PODS + 1)]
    free = [a_pod(name).with_uid(name).managed().asking_for(2).on_node("n").body for name in names]
    used = {"/api/v1/pods": listing(*free), "/api/v1/nodes": listing(node.body)}
    found = await top(listing(queue("q", STATUS)), tmp_path, pods=used)
    assert found.stdout.splitlines()[0] == (
        "note: more than 1,000 pods have cards; ask with -o wide: what is used outside every queue "
        "is not shown"
    )
    for options in (("-o", "json"), ("-o", "yaml")):
        found = await top(listing(queue("q", STATUS)), tmp_path, *options, pods=used)
        data = yaml.safe_load(found.stdout)
        assert data["outside"] == {"pods": 1001, "cards": {H200: 2002}}
        assert data["free"] == {H200: 0}
    found = await top(listing(queue("q", STATUS)), tmp_path, "-o", "wide", pods=used)
    assert f"used outside every queue: {H200} 2002, by 1001 pods" in found.stdout


async def test_the_default_answer_asks_for_each_kind_once_and_for_one_page_of_pods(
    tmp_path: Path,
) -> None:
    """Whatever the cluster has: that is what a second allows with 20,000 pods."""
    asked: list[tuple[str, dict[str, str]]] = []
    node = a_node("n").with_cards(H200, 8)
    others = {"/api/v1/namespaces": listing(), f"{GROUP}/podgroups": listing()}
    answers = {PATH: listing(queue("q", STATUS)), "/api/v1/nodes": listing(node.body), **others}
    for pods in (listing(OURS.body), listing(*[FREE.body] * (MOST_PODS + 1))):
        asked.clear()
        async with answering(
            {**answers, "/api/v1/pods": pods}, tmp_path, lambda *one: asked.append(one)
        ) as kubeconfig:
            arguments = ["top", "--kubeconfig", str(kubeconfig)]
            found = await asyncio.to_thread(CliRunner().invoke, plugin, arguments)
        assert found.exit_code == 0, found.output
        paths = [path for path, _ in asked]
        # Queues once as they are shown, and once to know which pods are in one.
        assert len(paths) - paths.count(PATH) == len(set(paths)) - 1
        (query,) = (query for path, query in asked if path == "/api/v1/pods")
        assert query == {"labelSelector": v.MANAGED, "limit": "1001"}
    reviews = "/apis/cardquota.volcano.sh/v1alpha1/queuereviews"
    assert (set(paths[:2]), paths[2:]) == ({PATH, reviews}, ["/api/v1/pods"])


def test_numbers_that_volcano_lets_nobody_write_are_said_to_be_old() -> None:
    """Its webhook refuses every update of a queue that is Closing, and so of its annotation."""
    closing = PublishedQueue("q", 0, "Closing", STATUS, in_annotation=True)
    open_again = PublishedQueue("r", 0, "Open", STATUS, in_annotation=True)
    in_status = PublishedQueue("s", 0, "Closing", STATUS, in_annotation=False)
    (note,) = notes(PublishedQueues([closing, open_again, in_status], []), None)
    assert note.startswith("the numbers of q may be old: ")
