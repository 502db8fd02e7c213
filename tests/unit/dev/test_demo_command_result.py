"""What a step expects of a command's output."""

import pytest

from cardquota_dev.demo.command_result import CommandResult, row, rows, says
from cardquota_dev.demo.step_error import StepError, check

QUEUES = CommandResult(
    0,
    """\
NAME       STATE   CARDS                               INQUEUE   AGE
research   Open    NVIDIA-H200 2/30, NVIDIA-H800 0/2   -         2s
vision     Open    Ascend-910B 0/8                     -         2s
""",
)


def test_a_table_is_read_by_its_headings() -> None:
    assert QUEUES.rows[1] == {
        "NAME": "vision",
        "STATE": "Open",
        "CARDS": "Ascend-910B 0/8",
        "INQUEUE": "-",
        "AGE": "2s",
    }


def test_a_cell_may_be_empty() -> None:
    queues = CommandResult(0, "NAME    NOTE     AGE\na                2s\nlonger  closed   9d\n")
    assert [found["NOTE"] for found in queues.rows] == ["", "closed"]
    assert [found["AGE"] for found in queues.rows] == ["2s", "9d"]


def test_the_last_column_may_hold_anything() -> None:
    events = CommandResult(0, "LAST SEEN   MESSAGE\n2s          two  spaces,   three\n")
    assert events.rows == [{"LAST SEEN": "2s", "MESSAGE": "two  spaces,   three"}]


def test_no_output_has_no_rows() -> None:
    assert CommandResult(0, "").rows == []
    assert not rows(1).met(CommandResult(0, "No resources found\n"))


def test_a_row_is_met_by_one_row_alone() -> None:
    assert row(NAME="research", CARDS="NVIDIA-H800 0/2").met(QUEUES)
    assert not row(NAME="vision", CARDS="NVIDIA-H800 0/2").met(QUEUES)
    assert not row(NAME="research", NONE="x").met(QUEUES)


def test_an_item_of_a_list_is_the_whole_item() -> None:
    assert not row(NAME="research", CARDS="NVIDIA-H200 2/3").met(QUEUES)


def test_rows_are_counted_and_each_is_looked_at() -> None:
    assert rows(2, STATE="Open").met(QUEUES)
    assert not rows(3, STATE="Open").met(QUEUES)
    assert not rows(2, NAME="vision").met(QUEUES)


def test_what_is_not_met_is_named_with_what_was_seen() -> None:
    with pytest.raises(StepError) as caught:
        check("kubectl get queues", QUEUES, [rows(2), says("Ascend", "Tesla"), row(NAME="x")])
    assert caught.value.tried == "kubectl get queues"
    assert caught.value.expected == '"Ascend" and "Tesla"; a row with NAME x'
    assert "Ascend-910B 0/8" in caught.value.seen
