"""What `check` prints, and its exit codes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from builders import H200
from cardquota.cli.app import app
from cardquota.cli.check import CheckSection, Finding, FindingKind, lines, show_sections, timeless
from cardquota.cli.output import Output
from cardquota.cli.plugin import plugin

ONE = Finding(
    finding=FindingKind.REFUSED,
    kind="Pod",
    namespace="team",
    name="web",
    queue="research",
    cards={H200: 2},
    since=60,
    age=600,
    reason="VolcanoNotKnown",
    what="may not be bound",
    why="it is not known; name it",
    advice="name it",
)
UNKNOWN_AGE = replace(
    ONE,
    kind="Job",
    queue=None,
    cards={},
    since=None,
    age=None,
    reason="",
)


def shown(*sections: CheckSection) -> list[str]:
    return [line.plain for line in lines(sections)]


def test_a_table_and_why() -> None:
    assert shown(CheckSection("refused", [ONE, replace(UNKNOWN_AGE, why="no")])) == [
        "FINDING   OBJECT         QUEUE      CARDS           FOR",
        "refused   Pod team/web   research   NVIDIA-H200 2   10 min",
        "refused   Job team/web   -          -               -",
        "",
        "refused: Pod team/web: it is not known; name it",
        "refused: Job team/web: no; name it",
    ]


def test_one_line_for_all_with_the_same_reason() -> None:
    few = [replace(ONE, name=f"web-{number}") for number in range(3)]
    many = [replace(ONE, name=f"web-{number}") for number in range(20_000)]
    *_, last = shown(CheckSection("past", few))
    assert last.startswith("refused: Pod team/web-0, Pod team/web-1, Pod team/web-2: it is not")
    *_, last = shown(CheckSection("past", many))
    assert last.startswith("refused: 20000 objects, the first is Pod team/web-0: it is not")


def test_names_stand_whole_where_it_says_why() -> None:
    names = [f"{'n' * 80}-{number}" for number in range(2)]
    *_, last = shown(CheckSection("past", [replace(ONE, name=name) for name in names]))
    assert last.startswith(f"refused: Pod team/{names[0]}, Pod team/{names[1]}: it is not")


def test_what_an_api_server_answers_is_no_terminal_code() -> None:
    first, *_ = shown(CheckSection("past", notes=["cannot list pods: \x1b[2J" + "x" * 3_000_000]))
    assert first.startswith("note: cannot list pods: ?[2Jxxx")
    assert len(first) < 2_000


def test_names_as_long_as_allowed_are_cut_for_people() -> None:
    long = replace(ONE, name="n" * 253, namespace="s" * 63, queue="q" * 253)
    assert max(map(len, shown(CheckSection("past", [long])))) < 600


def test_what_is_so_now_has_no_age_and_is_named_once() -> None:
    about = ("Queue", "", "q")
    odd = timeless(FindingKind.QUEUE, about, "A", "no node has it", "correct it", what="wrong")
    over = timeless(FindingKind.QUEUE, about, "B", "Queue <q> holds 4", "free some", what="wrong")
    assert shown(CheckSection("queues", [odd, over])) == [
        "FINDING   OBJECT    QUEUE   CARDS   FOR",
        "queue     Queue q   -       -       -",
        "queue     Queue q   -       -       -",
        "",
        "queue: Queue q: no node has it; correct it",
        "queue: Queue <q> holds 4; free some",
    ]


def test_of_a_healthy_cluster_one_line_is_printed() -> None:
    names = ("installation", "queues", "nodes", "past")
    assert shown(*map(CheckSection, names)) == ["The installation is in order."]


def test_nothing_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    """As of a namespace, which has no installation."""
    assert show_sections([CheckSection("past"), CheckSection("refused")], Output.TEXT) == 0
    assert capsys.readouterr().out == "Nothing was found.\n"
    assert shown(CheckSection("past", notes=["cannot  list\npods"], complete=False)) == [
        "note: cannot list pods",
        "",
    ]


def test_the_fields_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    section = CheckSection("past", [ONE, UNKNOWN_AGE], ["a note"], complete=False)
    assert show_sections([section], Output.JSON) == 3
    found = json.loads(capsys.readouterr().out)
    first, second = found["sections"][0].pop("findings")
    assert found == {"sections": [{"section": "past", "complete": False, "notes": ["a note"]}]}
    assert first == {
        "finding": "refused",
        "kind": "Pod",
        "namespace": "team",
        "name": "web",
        "queue": "research",
        "cards": {H200: 2},
        "since": "1970-01-01T00:01:00Z",
        "ageSeconds": 600,
        "reason": "VolcanoNotKnown",
        "message": "may not be bound: it is not known; name it",
        "advice": "name it",
    }
    nothing = {key for key, value in second.items() if value is None}
    assert nothing == {"queue", "since", "ageSeconds", "reason"}


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_sections([CheckSection("past")], Output.TEXT) == 0
    assert show_sections([CheckSection("past", complete=False)], Output.TEXT) == 1
    assert show_sections([CheckSection("past", [ONE], complete=False)], Output.TEXT) == 3
    assert "\x1b" not in capsys.readouterr().out


def test_wrong_usage() -> None:
    assert CliRunner().invoke(app, ["check", "-n", "../x"]).exit_code == 2


def test_no_cluster_is_told_in_one_line(tmp_path: Path) -> None:
    for commands in (app, plugin):
        done = CliRunner().invoke(commands, ["check", "--kubeconfig", str(tmp_path / "none")])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
