"""What `check` prints, and its exit codes."""

import json
from dataclasses import replace

import pytest

from builders import H200
from cardquota.cli.check import MOST_SHOWN, CheckSection, Finding, FindingKind, lines, show_sections
from cardquota.cli.check.section import bounded_section
from cardquota.cli.output import Output

ABOUT = FindingKind.REFUSED, "Pod", "team", "web", "VolcanoNotKnown"
ONE = Finding(*ABOUT, "it is not known; name it", "name it", queue="research", cards={H200: 2})
BARE = replace(ONE, kind="Job", queue=None, cards={}, reason="Odd")


def shown(*sections: CheckSection) -> list[str]:
    return [line.plain for line in lines(sections)]


def test_a_table_and_why() -> None:
    assert shown(CheckSection("refused", [ONE, replace(BARE, why="no")])) == [
        "FINDING   OBJECT         QUEUE      CARDS",
        "refused   Pod team/web   research   NVIDIA-H200 2",
        "refused   Job team/web   -          -",
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


def test_an_object_is_named_once() -> None:
    about = (FindingKind.QUEUE, "Queue", "", "q")
    odd = Finding(*about, "A", "no node has it", "correct it")
    over = Finding(*about, "B", "Queue <q> holds 4", "free some")
    assert shown(CheckSection("queues", [odd, over])) == [
        "FINDING   OBJECT    QUEUE   CARDS",
        "queue     Queue q   -       -",
        "queue     Queue q   -       -",
        "",
        "queue: Queue q: no node has it; correct it",
        "queue: Queue <q> holds 4; free some",
    ]


def test_of_a_healthy_cluster_one_line_is_printed() -> None:
    names = ("installation", "queues", "nodes", "past")
    assert shown(*map(CheckSection, names)) == ["The installation is in order."]


def test_nothing_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_sections([CheckSection("past"), CheckSection("refused")], Output.TEXT) == 0
    assert capsys.readouterr().out == "Nothing was found.\n"
    assert shown(CheckSection("past", notes=["cannot  list\npods"], complete=False)) == [
        "note: cannot list pods",
        "",
    ]


def test_the_fields_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    section = CheckSection("past", [ONE, BARE], ["a note"], complete=False)
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
        "reason": "VolcanoNotKnown",
        "message": "not installed correctly: it is not known; name it",
        "advice": "name it",
    }
    nothing = {key for key, value in second.items() if value is None}
    assert nothing == {"queue"}


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("it came past", "it came past; end it"),
        ("did you mean x?", "did you mean x? end it"),
        ("it is old: end it", "it is old: end it"),
    ],
)
def test_what_to_do_is_said_once_and_as_a_sentence(why: str, said: str) -> None:
    assert replace(ONE, why=why, advice="end it").why_and_advice == said


def test_however_much_is_wrong_a_section_stays_short() -> None:
    many = [replace(ONE, name=str(number), reason="A") for number in range(1_000)]
    section = bounded_section("nodes", [*many, replace(ONE, reason="B")], ["first"])
    assert [one.reason for one in section.findings] == ["A"] * MOST_SHOWN + ["B"]
    assert section.notes == ["first", f"{1_000 - MOST_SHOWN} findings more of A"]
    assert section.complete


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_sections([CheckSection("past")], Output.TEXT) == 0
    assert show_sections([CheckSection("past", complete=False)], Output.TEXT) == 1
    assert show_sections([CheckSection("past", [ONE], complete=False)], Output.TEXT) == 3
    assert "\x1b" not in capsys.readouterr().out
