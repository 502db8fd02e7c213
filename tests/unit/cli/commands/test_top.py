"""What `top` prints of queues, wherever their numbers are published."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from builders import H200
from cardquota.cli.commands.top import PublishedQueue, PublishedQueues, lines, notes, wide_lines
from cardquota.cli.output import Output
from cardquota.quota import vocabulary as v

from ..answering_api import FORBIDDEN, NOT_SERVED, Answer, a_list, answering, called

PATH = "/apis/scheduling.volcano.sh/v1beta1/queues"
STATUS: dict[str, Any] = {
    "cards": [{"name": H200, "quota": 3, "allocated": 2}],
    "columns": {"cards": f"{H200} 2/3", "inqueue": "-", "elastic": "-", "cpu": "1/4"},
}
TEXT = json.dumps(STATUS)


def queue(name: str, status: object = None, note: object = None) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if note is not None:
        meta["annotations"] = {v.STATUS: note}
    return {"metadata": meta, "spec": {}, "status": status}


async def top(answer: Answer, folder: Path, *options: str) -> Result:
    async with answering({PATH: answer}, folder) as kubeconfig:
        return await called(kubeconfig, "top", *options)


@pytest.mark.parametrize(
    "published",
    [
        queue("q", {**STATUS, "state": "Closed"}),
        queue("q", {"state": "Closed", "allocated": {"cpu": "1"}}, TEXT),
        # What the status says is newer: our definition took the place of Volcano's.
        queue("q", {**STATUS, "state": "Closed"}, json.dumps({**STATUS, "columns": {}})),
    ],
)
async def test_they_are_shown_wherever_they_are(tmp_path: Path, published: dict[str, Any]) -> None:
    found = await top(a_list(published), tmp_path)
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
    answer = a_list(queue("a", STATUS), queue("b", {}, TEXT), queue("c"), noted, queue("e", bare))
    found = await top(answer, tmp_path, "-o", "json")
    assert json.loads(found.stdout) == {
        "queues": [
            {"name": "a", "state": "Open", "publishedIn": "status", "status": STATUS},
            {"name": "b", "state": "Open", "publishedIn": "annotation", "status": STATUS},
            {"name": "c", "state": "Open", "publishedIn": None, "status": {}},
            {"name": "d", "state": "Open", "publishedIn": "annotation", "status": bare},
            {"name": "e", "state": "Open", "publishedIn": "status", "status": bare},
        ],
        "unreadable": [],
        "notes": [
            (
                "no numbers are published for c: see whether a replica leads (metric "
                "cardquota_leader), and what its log says"
            )
        ],
    }


async def test_a_queue_without_numbers_is_named(tmp_path: Path) -> None:
    found = await top(a_list(queue("a"), queue("b", {}, TEXT)), tmp_path)
    note, _, _, silent, _ = found.output.splitlines()
    assert note == (
        "note: no numbers are published for a: see whether a replica leads (metric "
        "cardquota_leader), and what its log says"
    )
    assert silent.split()[:3] == ["a", "Open", "-"]


async def test_no_queues(tmp_path: Path) -> None:
    found = await top(a_list(), tmp_path)
    assert (found.exit_code, found.output) == (0, "No queues.\n")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (NOT_SERVED, "cardquota: the cluster has no definition of Queue; apply the manifests"),
        (FORBIDDEN, "queues"),
        ((500, "oops"), "queues"),
        ((200, "no list"), "the answer is not a list of Kubernetes objects"),
    ],
)
async def test_what_cannot_be_listed_is_one_line(tmp_path: Path, answer: Answer, says: str) -> None:
    found = await top(answer, tmp_path)
    assert found.exit_code == 1
    assert says in found.stderr
    assert found.stderr.count("\n") == 1


async def test_one_bad_queue_costs_no_other(tmp_path: Path) -> None:
    odd: list[Any] = [
        queue("a", {"cards": "x", "columns": {"cards": "\x1b[31mred", "cpu": 7}}),
        queue("b", [1], 7),
        queue("c", {"state": {"a": 1}, "columns": []}, "[" * 50_000),
        queue("d", STATUS),
        {"metadata": 7},
    ]
    found = await top(a_list(*odd), tmp_path)
    assert found.exit_code == 0, found.output
    assert "\x1b" not in found.output
    assert "left out: queue" in found.output
    assert f"{H200} 2/3" in found.output


@pytest.mark.parametrize(
    ("seconds", "age"), [(0, "0s"), (119, "119s"), (120, "2m"), (7_200, "2h"), (200_000, "2d")]
)
def test_ages_are_short(seconds: int, age: str) -> None:
    one = PublishedQueue("q", 5_000, "", STATUS, in_annotation=False)
    text = [line.plain for line in lines(PublishedQueues([one], []), 5_000 + seconds * 1_000)]
    assert text[-1].endswith(f" {age}")
    unknown = PublishedQueue("q", None, "", STATUS, in_annotation=False)
    assert next(reversed(list(lines(PublishedQueues([unknown], []), 0)))).plain.endswith(" -")


CARDS = [
    {"name": H200, "quota": 4, "allocated": 1, "inqueue": 2, "requested": 5, "elastic": 0},
    {
        "name": "Other",
        "quota": 2,
        "allocated": 3,
        "deserved": 2,
        "borrowed": 1,
        "inqueue": "x",
        "offline": 2,
    },
    "no row",
]
WIDE = queue("q", {**STATUS, "cards": CARDS})
HEAD = [
    *("QUEUE", "STATE", "CARD", "QUOTA", "ALLOCATED", "ON-LINE", "OFF-LINE", "INQUEUE"),
    *("ELASTIC", "REQUESTED", "GUARANTEE", "DESERVED", "BORROWED", "NOTE"),
]


async def test_wide_has_a_row_for_each_card(tmp_path: Path) -> None:
    found = await top(a_list(WIDE, queue("r")), tmp_path, "-o", "wide")
    assert found.exit_code == 0, found.output
    table = [line.split() for line in found.stdout.splitlines()]
    rows = table[table.index(HEAD) + 1 :][:3]
    assert rows == [
        # An older operator says nothing of on-line and off-line use.
        ["q", "Open", H200, "4", "1", "-", "-", "2", "0", "5", "-", "-", "-"],
        ["q", "Open", "Other", "2", "3", "1", "2", *"----", "2", "1"],
        ["r", "Open", *"-" * 11],
    ]


async def test_wide_says_once_what_is_wrong_with_a_queue(tmp_path: Path) -> None:
    noted = {**STATUS, "cards": CARDS, "columns": {"note": "over quota: Other 3/2"}}
    found = await top(a_list(queue("q", noted)), tmp_path, "-o", "wide")
    ends = ["over quota: Other 3/2" in line for line in found.stdout.splitlines()[-2:]]
    assert ends == [True, False]


WAITING = {"pods": 5, "oldest": "2026-01-01T00:10:00Z"}
OLDEST = 1_767_226_200_000
"""The same moment, milliseconds since 1970."""


@pytest.mark.parametrize("output", [Output.TEXT, Output.WIDE])
def test_t7_how_many_wait_and_for_how_long(output: Output) -> None:
    """Without reading a pod. Of wide output in rows of their own: the others are of cards."""
    one = PublishedQueue("q", 0, "", {**STATUS, "waiting": WAITING}, in_annotation=False)
    other = PublishedQueue("r", 0, "", {**STATUS, "waiting": {"pods": 0}}, in_annotation=False)
    found = PublishedQueues([one, other], [])
    shown = [line.plain for line in lines(found, OLDEST + 720_000, output=output)]
    if output is Output.TEXT:
        assert ["5 (12m)" in row for row in shown] == [False, True, False]
        assert shown[2].split()[-2] == "-"
    else:
        table = ["QUEUE", "WAITING", "OLDEST"], ["q", "5", "12m"]
        assert [row.split() for row in shown[-3:]] == [[], *table]


@pytest.mark.parametrize("said", [None, 5, {"pods": True}, {"pods": "5"}, {"pods": -1}, {}, []])
def test_what_is_no_number_of_pods_that_wait_is_none(said: object) -> None:
    one = PublishedQueue("q", 0, "", {**STATUS, "waiting": said}, in_annotation=False)
    assert one.waiting == (0, None)
    timeless = {"waiting": {"pods": 2, "oldest": "yesterday"}}
    assert PublishedQueue("q", 0, "", timeless, in_annotation=False).waiting == (2, None)


def test_a_terminal_gets_bars() -> None:
    one = PublishedQueue("q", 0, "", {"cards": CARDS}, in_annotation=False)
    table = wide_lines(PublishedQueues([one], []), bars=True)
    bars = ["ALLOCATED/QUOTA", "█" * 5 + "░" * 15, "█" * 20]
    assert [line.plain.removesuffix("NOTE").split()[-1] for line in table] == bars
    nothing = [{"name": "a", "quota": 0, "allocated": 0}]
    one = PublishedQueue("q", 0, "", {"cards": nothing}, in_annotation=False)
    (_, row) = wide_lines(PublishedQueues([one], []), bars=True)
    assert row.plain.endswith(" " + "░" * 20)


def test_numbers_that_volcano_lets_nobody_write_are_said_to_be_old() -> None:
    """Its webhook refuses every update of a queue that is Closing, and so of its annotation."""
    closing = PublishedQueue("q", 0, "Closing", STATUS, in_annotation=True)
    open_again = PublishedQueue("r", 0, "Open", STATUS, in_annotation=True)
    in_status = PublishedQueue("s", 0, "Closing", STATUS, in_annotation=False)
    (note,) = notes(PublishedQueues([closing, open_again, in_status], []))
    assert note.startswith("the numbers of q may be old: ")


async def test_but_for_the_lease_one_list_is_read(tmp_path: Path) -> None:
    """Whatever the cluster has: so it comes within a second with 20,000 pods."""
    asked: list[str] = []
    answers = {PATH: a_list(queue("q", STATUS))}
    async with answering(answers, tmp_path, lambda path, _: asked.append(path)) as kubeconfig:
        found = await called(kubeconfig, "top", "-o", "wide")
    assert found.exit_code == 0, found.output
    assert asked == [PATH]
