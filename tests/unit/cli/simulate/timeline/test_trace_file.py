"""Traces as CSV: all of one is read, or each bad cell is named."""

from io import StringIO
from pathlib import Path

import pytest

from cardquota.cli.simulate.timeline import trace_file
from cardquota.cli.simulate.timeline.trace_file import TraceError, read_trace, write_trace
from cardquota.cli.simulate.timeline.trace_job import TraceJob

HEADER = "arrival,queue,card,cards,duration"


def written(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "trace.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def problems(tmp_path: Path, text: str | bytes) -> list[str]:
    path = written(tmp_path, text)
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    return [problem.removeprefix(path) for problem in caught.value.problems]


def test_what_is_not_said_has_a_default(tmp_path: Path) -> None:
    (job,) = read_trace(written(tmp_path, f"{HEADER}\n7,a,NVIDIA-H200,2,60\n"))
    assert job == TraceJob(
        name="job-2", queue="a", card="NVIDIA-H200", cards=2, arrival=0, duration=60
    )
    assert (job.namespace, job.pods, job.priority, job.all_cards) == ("default", 1, "", 2)


def test_by_arrival_from_the_first_one_on_and_blanks_do_not_count(tmp_path: Path) -> None:
    text = (
        f"\ufeff {HEADER} ,name\n\n90,a,X,1,0,late\n ,,,,,\n 30 ,a,A|B,1,5,early\n90,b,X,1,1,same\n"
    )
    jobs = read_trace(written(tmp_path, text))
    assert [(job.name, job.arrival) for job in jobs] == [("early", 0), ("late", 60), ("same", 60)]
    assert jobs[0].card == "A|B"


def test_points_in_time(tmp_path: Path) -> None:
    lines = ("2026-01-31T08:30:00Z", "2026-01-31 08:31:00", "2026-01-31T10:30:30.5+02:00")
    text = "\n".join([HEADER, *(f"{at},a,X,1,1" for at in lines)])
    assert [job.arrival for job in read_trace(written(tmp_path, text))] == [0, 30, 60]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    odd = 'a "queue", with commas'
    jobs = [
        TraceJob(name="a", queue=odd, card="X", cards=1, arrival=0, duration=1),
        TraceJob(
            name="b",
            namespace="team",
            queue="q",
            card="A|B",
            priority="high",
            cpu="500m",
            memory="1Gi",
            cards=8,
            pods=4,
            arrival=5,
            duration=86_400,
        ),
    ]
    path = tmp_path / "written.csv"
    write_trace(path, jobs)
    assert read_trace(str(path)) == jobs


BAD = {
    "arrival": ("-1,a,X,1,1", "a whole number of seconds, 0 or more, or a point in time such as"),
    "no date": ("2026-13-31T08:30:00Z,a,X,1,1", "a whole number of seconds, 0 or more, or"),
    "in no century": ("99999999999,a,X,1,1", "a whole number of seconds, 0 or more, or"),
    "queue": ("0,,X,1,1", "the name of a queue, printable and of at most 253 characters"),
    "card": (f"0,a,{'x' * 1_025},1,1", "the name of a card, or of several as in A|B, printable"),
    "cards": ("0,a,X,0,1", "a whole number of cards of each pod from 1 to 1,000"),
    "a fraction": ("0,a,X,1.5,1", "a whole number of cards of each pod from 1 to 1,000"),
    "other digits": ("0,a,X,\u0661,1", "a whole number of cards of each pod from 1 to 1,000"),
    "duration": ("0,a,X,1,999999999999999999999", "a whole number of seconds from 0 to "),
}


@pytest.mark.parametrize(("line", "expected"), BAD.values(), ids=BAD)
def test_a_bad_cell_is_named_with_what_is_expected(
    line: str, expected: str, tmp_path: Path
) -> None:
    (problem,) = problems(tmp_path, f"{HEADER}\n0,a,X,1,1\n{line}\n")
    assert problem.startswith(", line 3, column ")
    assert f": expected {expected}" in problem


OPTIONAL = {
    "name": ("Job_1", "a name of lower-case letters, digits, `-` and `.`, of at most 200"),
    "namespace": ("x" * 64, "the name of a namespace of lower-case letters"),
    "pods": ("10001", "a whole number of pods from 1 to 10,000"),
    "priority": ("high\u0007", "the name of a priority class, printable"),
    "cpu": ("-1", "a Kubernetes quantity, 0 or more, such as 500m or 4"),
    "memory": ("much", "a Kubernetes quantity, 0 or more, such as 32Gi"),
}


@pytest.mark.parametrize("column", OPTIONAL)
def test_a_bad_cell_of_an_optional_column(column: str, tmp_path: Path) -> None:
    found, expected = OPTIONAL[column]
    (problem,) = problems(tmp_path, f"{HEADER},{column}\n0,a,X,1,1,{found}\n")
    assert problem.startswith(f", line 2, column {column}: found <")
    assert f": expected {expected}" in problem


def test_every_bad_cell_is_named(tmp_path: Path) -> None:
    found = problems(tmp_path, f"{HEADER}\n-1,a,X,0,1\n0,a,X,1,1\n0,a,X,1,\n")
    assert [problem.partition(":")[0] for problem in found] == [
        ", line 2, column arrival",
        ", line 2, column cards",
        ", line 4, column duration",
    ]
    assert "it is empty: expected" in found[2]


def test_of_very_many_problems_the_rest_is_counted(tmp_path: Path) -> None:
    found = problems(tmp_path, "\n".join([HEADER, *["-1,a,X,1,1"] * 250]))
    assert len(found) == 101
    assert found[-1] == ": 150 more problems"


WHOLE_FILES = {
    "empty": ("", ", line 1: columns are missing in the header: arrival, queue, card, cards, du"),
    "a header alone": (HEADER, ": has no jobs: only a header"),
    "a column is missing": ("arrival,queue,card,cards\n", ", line 1: column duration is missing"),
    "a column is unknown": (f"{HEADER},colour\n", ", line 1: column colour is not known"),
    "a column twice": (f"{HEADER},cards\n", ", line 1: column cards is there twice"),
    "a cell too many": (f"{HEADER}\n0,a,X,1,1,1\n", ", line 2: has 6 cells: expected 5, as in"),
    "a quote is open": (f'{HEADER}\n0,"a,X,1,1\n', ", line 2: is not CSV: "),
    "a zero byte": (f"{HEADER}\n0,a\0,X,1,1\n", ", line 2"),
    "no text": (b"arrival\xff\xfe", ": cannot be read: it is not UTF-8 text"),
    "an endless line": (
        f"{HEADER}\n{'x' * 70_000}",
        ": is not CSV: the line has 65,536 characters",
    ),
    "two forms of time": (
        f"{HEADER}\n0,a,X,1,1\n2026-01-31T08:30:00Z,a,X,1,1\n",
        ", line 3, column arrival: found a point in time: expected a number of seconds as in",
    ),
    "centuries": (f"{HEADER}\n0,a,X,1,1\n999999999,a,X,1,1\n", ", column arrival: from the first"),
    "a name twice": (
        f"{HEADER},name\n0,a,X,1,1,x\n0,a,X,1,1,x\n",
        ", line 3, column name: <x> is the name of line 2 too: expected one of its own, or none",
    ),
}


@pytest.mark.parametrize(("text", "problem"), WHOLE_FILES.values(), ids=WHOLE_FILES)
def test_files_of_which_nothing_is_used(text: str | bytes, problem: str, tmp_path: Path) -> None:
    assert problem in problems(tmp_path, text)[0]


def test_the_same_name_in_two_namespaces(tmp_path: Path) -> None:
    text = f"{HEADER},name,namespace\n0,a,X,1,1,x,one\n0,a,X,1,1,x,two\n"
    assert len(read_trace(written(tmp_path, text))) == 2


def test_jobs_and_pods_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "MOST_JOBS", 2)
    monkeypatch.setattr(trace_file, "MOST_PODS", 5)
    text = f"{HEADER},pods\n0,a,X,1,1,3\n0,a,X,1,1,3\n0,a,X,1,1,1\n"
    assert problems(tmp_path, text) == [
        ", line 3, column pods: all jobs together have more than 5 pods",
        ", line 4: a trace has at most 2 jobs",
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"none\.csv: cannot be read: No such file or directory"):
        read_trace(str(tmp_path / "none.csv"))
    with pytest.raises(TraceError, match="cannot be written: Is a directory"):
        write_trace(tmp_path, [])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(f"{HEADER}\n0,a,X,1,x\n"))
    with pytest.raises(TraceError, match=r"^standard input, line 2, column duration: found <x>"):
        read_trace("-")
