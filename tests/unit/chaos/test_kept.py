"""What is kept of a run is judged again as it was."""

from pathlib import Path

import pytest

from chaos import replay
from chaos.clients.objects import A
from chaos.judging.denials import Denial
from chaos.judging.leeway import Trouble
from chaos.report import Beside, copied, judged, write

from .story import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 3}).waits("a", 2).opens("a").waits("b").pause(30)


def test_faults_and_denials_are_kept_beside_the_history(story: Story, tmp_path: Path) -> None:
    story.queue("q", {A: 2}).pause(25).opens("b")
    trouble = Trouble(story.now - 26, story.now - 1, old=False)
    denial = Denial(("q", A), 1, story.now - 50, story.now - 49, "has insufficient <x> quota")
    happened = [(story.now - 60, story.now, "fault: patches held")]
    beside = Beside(
        seed=7, kills=1, tally={"kills": 1}, troubles=[trouble], denials=[denial], happened=happened
    )
    write(tmp_path, beside)
    report = judged(tmp_path)
    assert report.findings == [f"denied wrongly: 1 of {('q', A)}: {denial.text}"]
    assert (report.run.seed, report.run.kills, report.run.happened) == (7, 1, happened)
    (tmp_path / "elsewhere").mkdir()
    assert judged(copied(tmp_path, tmp_path / "elsewhere")).findings == report.findings


def test_a_history_that_is_alone_has_no_excuse(story: Story, tmp_path: Path) -> None:
    story.queue("q", {A: 2}).pause(25).opens("b")
    found = judged(tmp_path).findings
    assert found[0].endswith(f"q holds 3 of {A}, quota 2 (nothing went wrong then)")


def test_what_said_nothing_says_nothing_again(story: Story, tmp_path: Path) -> None:
    write(tmp_path, Beside(seed=1, invalid="the history is not complete"))
    assert judged(tmp_path).code == 2
    story.lose_last().opens("b").goes("b")
    write(tmp_path, Beside(seed=1))
    assert "follows" in judged(tmp_path).says_nothing


@pytest.mark.parametrize(("breakage", "code"), [("", 1), ("no-fence", 0)])
def test_it_ends_as_the_run_would(
    story: Story, tmp_path: Path, breakage: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    story.waits("c", 3).opens("c")
    write(tmp_path, Beside(seed=5, breakage=breakage))
    assert replay.main(tmp_path) == code
    assert "q holds 5 of" in capsys.readouterr().out
