"""`cardquota simulate --timeline` as a user sees it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cardquota.cli.app import app
from cardquota.cli.simulate.timeline import timeline_command

from .timelines import HEADER, node, parsed, queue


def called(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)], input=text)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text(node("n", 4) + queue("a", '{"NVIDIA-H200": 3}') + queue("odd", "[]"))
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    lines = (
        "first,0,a,NVIDIA-H200,2,1,7200,",
        "second,600,a,NVIDIA-H200,2,1,3600,",
        "large,700,a,NVIDIA-H200,4,1,60,",
        "lost,700,b,NVIDIA-H200,1,1,60,high",
        "gang,800,a,NVIDIA-H200,1,4,60,",
    )
    path.write_text("\n".join((HEADER, *lines)))
    return path


def test_for_people(cluster: Path, trace: Path) -> None:
    result = called("--timeline", "-f", cluster, "--trace", trace)
    assert result.exit_code == 0
    printed = [" ".join(line.split()) for line in result.output.splitlines()]
    assert printed[0].startswith("note: PriorityClass high is not in the files")
    assert printed[1].startswith("Queue odd: refused: annotation volcano.sh/card.quota cannot be")
    assert printed[3].startswith("5 jobs in 3h: 2 started, ")
    head = "JOBS STARTED MEDIAN WAIT 95TH PERCENTILE LONGEST WAIT DENIED NEVER STARTED"
    assert f"QUEUE {head}" in printed
    assert f"CARDS OF A JOB {head}" in printed
    assert "2 to 7 4 2 0s 1h 50m 1h 50m" in " ".join(printed)
    assert "NVIDIA-H200 4 3 6.0 card-hours 50.0 % 50.0 % of 1h 50m" in printed
    assert any("(large): Queue <a> has insufficient <NVIDIA-H200>" in line for line in printed)
    assert any(line.startswith("1 job of queue b (lost): ") for line in printed)
    assert any("(gang): " in line for line in printed)
    assert result.output == called("--timeline", "-f", cluster, "--trace", trace).output


def test_for_programs(cluster: Path, trace: Path) -> None:
    result = called(
        "--timeline", "-f", cluster, "--trace", "-", "-o", "json", text=trace.read_text()
    )
    found = json.loads(result.stdout)
    assert (found["seconds"], len(found["jobs"]), len(found["refused"])) == (10_800, 5, 1)
    assert found["waits"]["queues"][-1]["longest"] == 6_600
    second = found["jobs"][1]
    assert (second["arrival"], second["let_through"], second["ended"]) == (600, 7_200, 10_800)
    (card,) = found["cards"]
    assert (card["held"], card["held_while_waited"]) == (6 * 3_600, 6_600 * 2)


def test_made_up_jobs_are_written_and_drawn(cluster: Path, tmp_path: Path) -> None:
    written, drawn = tmp_path / "w.csv", tmp_path / "p.svg"
    options = ("--jobs", 40, "--seed", 3)
    made = called(
        "--timeline",
        "-f",
        cluster,
        *options,
        "--write-trace",
        written,
        "--svg",
        drawn,
        "-o",
        "json",
    )
    again = called("--timeline", "-f", cluster, "--trace", written, "-o", "json")
    assert made.exit_code == again.exit_code == 0
    assert made.stdout == again.stdout
    assert "a" in [one.text for one in parsed(drawn.read_text()).iter()]
    other = called("--timeline", "-f", cluster, "--jobs", 40, "--seed", 4, "-o", "json")
    assert other.stdout != made.stdout


def test_workloads_of_the_files_are_left_out_with_a_note(
    cluster: Path, trace: Path, samples: Path
) -> None:
    result = called(
        "--timeline", "-f", cluster, "-f", samples / "deployment.yaml", "--trace", trace
    )
    assert "note: 1 workload of the files left out: a timeline runs the jobs" in result.output


NEEDED = "--trace, --jobs, --seed, --starvation-wait, --write-trace and --svg need --timeline"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--starvation-wait", 5), NEEDED),
        (
            ("--timeline", "--jobs", 1, "--starvation-wait", -1),
            "--starvation-wait -1: expected seconds from 0 to 31,536,000",
        ),
        (("--jobs", 5), NEEDED),
        (("--svg", "x.svg"), NEEDED),
        (("--timeline",), "--timeline needs either --trace FILE or --jobs NUMBER"),
        (("--timeline", "--trace", "x", "--jobs", 1), "--timeline needs either --trace FILE or"),
        (
            ("--timeline", "--trace", "x", "--seed", 1),
            "--seed and --write-trace are for the made-up",
        ),
        (("--timeline", "--jobs", -1), "--jobs -1: expected a whole number from 1 to 200,000"),
        (("--timeline", "--jobs", 1, "--seed", -1), "--seed -1: expected a whole number from 0 to"),
    ],
)
def test_usage_exits_2_with_one_line(
    arguments: tuple[object, ...], text: str, cluster: Path
) -> None:
    result = called("-f", cluster, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"cardquota: {text}")
    assert result.stderr.count("\n") == 1


def test_a_bad_trace_exits_1_with_a_line_for_each_problem(cluster: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"{HEADER}\n,0,a,X,1,1,-5,\n,x,a,X,1,1,5,\n,0,a,X,1,1,5,\n")
    picture = tmp_path / "p.svg"
    result = called("--timeline", "-f", cluster, "--trace", path, "--svg", picture)
    assert (result.exit_code, result.stdout, picture.exists()) == (1, "", False)
    first, second = result.stderr.splitlines()
    assert first.startswith(f"cardquota: {path}, line 2, column duration: found <-5>: expected a ")
    assert second.startswith(f"cardquota: {path}, line 3, column arrival: found <x>: expected a ")


def test_other_files_that_cannot_be_used_exit_1_with_one_line(
    cluster: Path, trace: Path, tmp_path: Path
) -> None:
    (tmp_path / "none.yaml").write_text(node("n", 4))
    for arguments, text in (
        (("-f", tmp_path / "no.yaml", "--trace", trace), "no.yaml: cannot be read: No such file"),
        (
            ("-f", "-", "--trace", "-"),
            "standard input can be either the trace or a file of objects",
        ),
        (
            ("-f", tmp_path / "none.yaml", "--jobs", 5),
            "no Queue of the files has a quota: there is",
        ),
        (
            ("-f", cluster, "--jobs", 5, "--write-trace", tmp_path),
            "cannot be written: Is a directory",
        ),
    ):
        result = called("--timeline", *arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert text in result.stderr
        assert result.stderr.count("\n") == 1


def test_made_up_jobs_with_too_many_pods(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline_command, "MOST_PODS", 9)
    result = called("--timeline", "-f", cluster, "--jobs", 20)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("cardquota: the made-up jobs have 2")
    assert result.stderr.endswith(" pods together, and at most 9 are run: ask for fewer --jobs\n")


def test_a_picture_that_cannot_be_written_loses_no_result(
    cluster: Path, trace: Path, tmp_path: Path
) -> None:
    result = called("--timeline", "-f", cluster, "--trace", trace, "--svg", tmp_path)
    assert result.exit_code == 1
    assert "5 jobs in 3h" in result.stdout
    assert result.stderr == f"cardquota: {tmp_path}: cannot be written: Is a directory\n"


def test_very_many_reasons_and_a_card_without_nodes(tmp_path: Path) -> None:
    cluster, trace = tmp_path / "cluster.yaml", tmp_path / "trace.csv"
    cluster.write_text(node("n", 4) + queue("a", '{"GONE": 30}'))
    denied = [f"d{i},0,a,GONE,{31 + i},1,1," for i in range(25)]
    trace.write_text("\n".join((HEADER, *denied, "waits,0,a,GONE,1,1,1,")))
    lines = called("--timeline", "-f", cluster, "--trace", trace).output.splitlines()
    assert lines[-1] == "  5 jobs more, for 5 more reasons"
    assert sum(line.startswith("  1 job of queue a (d") for line in lines) == 20
    assert "GONE 0 30 0.0 card-hours - nobody waited" in [" ".join(line.split()) for line in lines]
