"""What `check` prints, and its exit codes (R7)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from builders import H200
from cardquota.cli.app import app
from cardquota.cli.check.check import lines, show_sections
from cardquota.cli.check.section import CheckSection
from cardquota.cli.check.timeless_finding import timeless
from cardquota.cli.output import Output
from cardquota.cli.plugin import plugin
from cardquota.quota.stuck.stuck_finding import StuckFinding, StuckKind

ONE = StuckFinding(
    finding=StuckKind.TERMINATING,
    kind="Pod",
    namespace="team",
    name="web",
    queue="research",
    cards={H200: 2},
    since=60,
    age=600,
    node="gpu-7",
    reason="NodeGone",
    what="should be gone",
    why="its node is gone",
    advice="end it",
)
UNKNOWN_AGE = replace(
    ONE,
    finding=StuckKind.DENIED,
    kind="Job",
    queue=None,
    cards={},
    since=None,
    age=None,
    node="",
    reason="",
)


def shown(*sections: CheckSection) -> list[str]:
    return [line.plain for line in lines(sections)]


def test_a_table_and_why() -> None:
    assert shown(CheckSection("stuck", [ONE, UNKNOWN_AGE])) == [
        "FINDING       OBJECT         QUEUE      CARDS           FOR       NODE",
        "terminating   Pod team/web   research   NVIDIA-H200 2   10 min    gpu-7",
        "denied        Job team/web   -          -               unknown   -",
        "",
        "terminating: Pod team/web: its node is gone; end it",
        "denied: Job team/web: its node is gone",
    ]


def test_one_line_for_all_with_the_same_reason() -> None:
    few = [replace(ONE, name=f"web-{number}") for number in range(3)]
    many = [replace(ONE, name=f"web-{number}") for number in range(20_000)]
    *_, last = shown(CheckSection("stuck", few))
    assert last.startswith("terminating: Pod team/web-0, Pod team/web-1, Pod team/web-2: its node")
    *_, last = shown(CheckSection("stuck", many))
    assert last.startswith("terminating: 20000 objects, the first is Pod team/web-0: its node")


def test_names_stand_whole_where_it_says_why() -> None:
    names = [f"{'n' * 80}-{number}" for number in range(2)]
    *_, last = shown(CheckSection("stuck", [replace(ONE, name=name) for name in names]))
    assert last.startswith(f"terminating: Pod team/{names[0]}, Pod team/{names[1]}: its node")


def test_what_an_api_server_answers_is_no_terminal_code() -> None:
    first, *_ = shown(CheckSection("stuck", notes=["cannot list pods: \x1b[2J" + "x" * 3_000_000]))
    assert first.startswith("note: cannot list pods: ?[2Jxxx")
    assert len(first) < 2_000


def test_names_as_long_as_allowed_are_cut_for_people() -> None:
    long = replace(ONE, name="n" * 253, namespace="s" * 63, queue="q" * 253, node="k" * 253)
    assert max(map(len, shown(CheckSection("stuck", [long])))) < 600


def test_what_is_so_now_has_no_age_and_is_named_once() -> None:
    about = ("Queue", "", "q")
    odd = timeless(StuckKind.QUEUE, about, "A", "no node has it", "correct it", what="wrong")
    over = timeless(StuckKind.QUEUE, about, "B", "Queue <q> holds 4", "free some", what="wrong")
    assert shown(CheckSection("queues", [odd, over]), CheckSection("stuck")) == [
        "FINDING   OBJECT    QUEUE   CARDS   FOR   NODE",
        "queue     Queue q   -       -       -     -",
        "queue     Queue q   -       -       -     -",
        "",
        "queue: Queue q: no node has it; correct it",
        "queue: Queue <q> holds 4; free some",
        "",
        "Nothing is stuck.",
    ]


def test_of_a_healthy_cluster_two_lines_are_printed() -> None:
    names = ("installation", "queues", "nodes", "stuck")
    assert shown(*map(CheckSection, names)) == [
        "The installation is in order.",
        "Nothing is stuck.",
    ]


def test_nothing_and_notes() -> None:
    assert shown(CheckSection("stuck")) == ["Nothing is stuck."]
    assert shown(CheckSection("stuck", notes=["cannot  list\npods"], complete=False)) == [
        "note: cannot list pods",
        "",
        "Nothing that could be seen is stuck.",
    ]


def test_the_fields_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    section = CheckSection("stuck", [ONE, UNKNOWN_AGE], ["a note"], complete=False)
    assert show_sections([section], Output.JSON) == 3
    found = json.loads(capsys.readouterr().out)
    first, second = found["sections"][0].pop("findings")
    assert found == {"sections": [{"section": "stuck", "complete": False, "notes": ["a note"]}]}
    assert first == {
        "finding": "terminating",
        "kind": "Pod",
        "namespace": "team",
        "name": "web",
        "queue": "research",
        "cards": {H200: 2},
        "since": "1970-01-01T00:01:00Z",
        "ageSeconds": 600,
        "node": "gpu-7",
        "reason": "NodeGone",
        "message": "should be gone: its node is gone",
        "advice": "end it",
    }
    nothing = {key for key, value in second.items() if value is None}
    assert nothing == {"queue", "since", "ageSeconds", "node", "reason"}


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_sections([CheckSection("stuck")], Output.TEXT) == 0
    assert show_sections([CheckSection("stuck", complete=False)], Output.TEXT) == 1
    assert show_sections([CheckSection("stuck", [ONE], complete=False)], Output.TEXT) == 3
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "options", [("--gated-after", "-1"), ("--terminating-after", "x"), ("-n", "../x")]
)
def test_wrong_usage(options: tuple[str, str]) -> None:
    assert CliRunner().invoke(app, ["check", *options]).exit_code == 2


def test_no_cluster_is_told_in_one_line(tmp_path: Path) -> None:
    for commands in (app, plugin):
        done = CliRunner().invoke(commands, ["check", "--kubeconfig", str(tmp_path / "none")])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
