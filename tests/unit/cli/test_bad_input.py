"""What every command of the plugin says where it cannot answer: one line, and its exit code."""

import json
from pathlib import Path

import pytest
from typer.testing import Result

from cardquota.cli.output import ExitCode

from .answering_api import Answer, answering, called

GROUP = "/apis/scheduling.volcano.sh/v1beta1"
REVIEWS = "/apis/cardquota.volcano.sh/v1alpha1"
WORDS = "top|top -o wide|top --watch|queue red|explain job train -n team|cards|inspect|check"
COMMANDS = tuple(tuple(words.split()) for words in WORDS.split("|"))


def said(done: Result, code: int) -> str:
    """What it says: one line, and nothing on standard output."""
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    assert done.stderr.startswith("cardquota: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
async def test_without_a_cluster(command: tuple[str, ...], tmp_path: Path) -> None:
    done = await called(tmp_path / "none", *command)
    assert "there is no such file" in said(done, ExitCode.NOT_UNDERSTOOD)
    async with answering({}, tmp_path) as config:
        done = await called(config, *command, "--context", "gone")
    assert "'gone'" in said(done, ExitCode.NOT_UNDERSTOOD)


def forbidden(verb: str, what: str) -> Answer:
    message = f'{what} is forbidden: User "ann" cannot {verb} resource "{what}" \x1b[2J'
    return 403, json.dumps({"kind": "Status", "reason": "Forbidden", "message": message})


RIGHTS = {
    "top": "you may not list queues",
    "queue": "it needs the right to create queuereviews.cardquota.volcano.sh",
    "explain": "it needs the right to create workloadreviews.cardquota.volcano.sh",
    "cards": "you may not list nodes",
    "inspect": "you may not list nodes",
}


@pytest.mark.parametrize("command", [one for one in COMMANDS if one[0] in RIGHTS], ids=" ".join)
async def test_who_lacks_a_right_is_told_which(command: tuple[str, ...], tmp_path: Path) -> None:
    reviews = f"{REVIEWS}/namespaces/team/workloadreviews", f"{REVIEWS}/queuereviews"
    posted = {path: forbidden("create", path.rpartition("/")[2]) for path in reviews}
    lists = f"{GROUP}/queues", "/api/v1/nodes"
    answers = {path: forbidden("list", path.rpartition("/")[2]) for path in lists}
    async with answering(answers, tmp_path, posted=posted) as config:
        done = await called(config, *command)
    text = said(done, ExitCode.FAILED)
    assert RIGHTS[command[0]] in text
    assert "\x1b" not in text
