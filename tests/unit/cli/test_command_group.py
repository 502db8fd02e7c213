"""What all commands have in common: one line for a mistake, exit codes, safe text, closed pipes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from rich.text import Text
from typer.testing import CliRunner

from builders import H200
from cardquota import __version__
from cardquota.cli import printing
from cardquota.cli.app import app
from cardquota.cli.output import EXIT_CODES, ExitCode, Output
from cardquota.cli.plugin import plugin

from .answering_api import Answer, a_list, answering, kubeconfig

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
PROGRAM = (sys.executable, "-m", "cardquota.cli.plugin")
NOBODYS = "http://127.0.0.1:1"
ESCAPE = "\x1b[31mred\x9b2J\u202e"
COMMANDS = ("top", "cards", "inspect", "check")


def one_line(arguments: tuple[str, ...], code: int) -> str:
    """What a command says that fails."""
    done = CliRunner().invoke(plugin, arguments)
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    assert done.stderr.count("\n") == 1
    said = done.stderr.rstrip("\n")
    assert said.startswith("cardquota: ")
    assert said.isprintable()
    for phrase in ("Errno", "Traceback", "Input should", "Value error", "pydantic", "Expected `"):
        assert phrase not in said
    return said.removeprefix("cardquota: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tpo",), "No such command 'tpo'. Did you mean 'top'?; see kubectl cardquota --help"),
        (("top", "--x"), "No such option: --x; see kubectl cardquota top --help"),
        (("top", "extra"), "Got unexpected extra argument(s) (extra); see "),
        (("top", "-o", "xml"), "'xml' is not one of 'text', 'json', 'yaml', 'wide'"),
        (("check", "-o", "wide"), "'wide' is not one of 'text', 'json', 'yaml'"),
        (("queue", "q", "--limit", "x"), "'--limit': must be a whole number; see "),
        (("queue", "q", "--limit", "-1"), "'--limit': must be greater than or equal to 0"),
        (("check", "-n", ESCAPE), "is not a namespace name; see kubectl cardquota check"),
        (("queue", "../q"), "Invalid value for NAME: '../q' is not a queue name; see "),
        (("explain", "pod", "../x"), "Invalid value for NAME: '../x' is not an object name; see "),
        (("explain", "pod/x/y"), "Invalid value for NAME: 'x/y' is not an object name; see "),
        (("explain", "pdo", "x"), "Invalid value for KIND: 'pdo' is not one of pod, "),
        (("explain", "pod"), "Missing argument 'NAME'; usage: kubectl cardquota explain KIND NAME"),
        (("explain", "pod/"), "Missing argument 'NAME'; usage: "),
        (("explain", "pod", "x" * 100_000), "xxx...' is not an object name; see "),
        (("top", "--watch", "-o", "yaml"), "is for text alone: leave out -o"),
        ((ESCAPE,), "No such command '"),
        (("top", "x" * 100_000), "Got unexpected extra argument(s) (xxx"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    runner = CliRunner().invoke(plugin, arguments, prog_name="kubectl cardquota")
    assert said in runner.stderr
    found = one_line(arguments, 2)
    assert len(found) < 500


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        ("folder", "cannot be read: Is a directory"),
        ("a: [", "is not YAML"),
        (b"\xff\x00\x81", "is not YAML"),
        ("", "is not a kubeconfig"),
        ("clusters: text", "is not a kubeconfig: clusters is malformed"),
        ("current-context: gone", "there is no context 'gone', and no other"),
        ("clusters: []", "no context is named, and none is current"),
    ],
)
def test_a_kubeconfig_that_is_none_is_one_line_and_2(
    tmp_path: Path, content: str | bytes | None, said: str
) -> None:
    path = tmp_path / "config"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert one_line(("top", "--kubeconfig", str(path)), 2) == f"kubeconfig {path}: {said}"


def test_what_a_kubeconfig_names_and_is_not_there_is_one_line(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "https://127.0.0.1:1", ", certificate-authority: /none/ca")
    said = one_line(("top", "--kubeconfig", str(path)), 2)
    assert said == f"kubeconfig {path}: /none/ca: cannot be read: No such file or directory"
    for server in ("garbage", "http://127.0.0.1:99999", "ftp://x"):
        path = kubeconfig(tmp_path, server)
        assert "is not a URL with http" in one_line(("top", "--kubeconfig", str(path)), 2)
    said = one_line(("top", "--kubeconfig", str(path), "--context", ESCAPE), 2)
    assert "there is no context" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cluster_that_does_not_answer_is_one_line_and_1(tmp_path: Path, command: str) -> None:
    said = one_line((command, "--kubeconfig", str(kubeconfig(tmp_path, NOBODYS))), 1)
    first = {"top": "list queues", "check": "read the operator's Deployment"}
    failed = first.get(command, "list nodes")
    assert said == f"cannot {failed}: Cannot connect to host 127.0.0.1:1 [Connection refused]"


SETTINGS = {
    "mode: strict": "mode: must be 'enforce' or 'audit'",
    "webhook: {port: abc}": "webhook.port: must be a whole number",
    "webhook: {timeoutSeconds: 1.5}": "webhook.timeoutSeconds: must be a whole number",
    "webhook: 3": "webhook: must be a mapping",
    "vendors: 5": "vendors: must be a list",
    "vendors: [{name: A}]": "vendors.0.prefix: is missing; vendors.0.type: is missing",
    "release: {starvationWait: -1}": "release.starvationWait: must be greater than or equal to 0",
    "defaultQueue: 5": "defaultQueue: must be text (put it in quotes)",
    "requireQueue: maybe": "requireQueue: must be true or false",
    "foo: 1": "foo: there is no such setting",
    "[1]": "must hold a mapping of settings",
    "a: [": "is not YAML: expected the node content, but found '<stream end>' (line 1)",
}


@pytest.mark.parametrize(("text", "said"), SETTINGS.items(), ids=SETTINGS)
def test_a_wrong_setting_is_told_in_plain_words(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config").write_text(text)
    found = one_line(("top", "--config", str(tmp_path / "config")), 2)
    assert found == f"{tmp_path}/config: {said}"


def test_a_configuration_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "Is a directory"), (tmp_path / "x", "No such file or directory")):
        found = one_line(("cards", "--config", str(path)), 2)
        assert found == f"{path}: cannot be read: {said}"
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "it is not UTF-8 text" in one_line(("top", "--config", str(tmp_path / "binary")), 2)


def test_the_version_is_an_option_too() -> None:
    for group in (app, plugin):
        for argument in ("version", "--version"):
            done = CliRunner().invoke(group, [argument])
            assert (done.exit_code, done.output) == (0, f"cardquota {__version__}\n")


def test_exit_codes_are_in_the_help_and_in_the_document() -> None:
    document = (Path(__file__).parents[3] / "docs" / "plugin.md").read_text()
    for group in (app, plugin):
        told = " ".join(CliRunner().invoke(group, ["--help"]).output.split())
        assert EXIT_CODES in told
    for code in ExitCode:
        assert f" {code.value} " in EXIT_CODES
        assert f"| {code.value} |" in document


def queues(count: int) -> Answer:
    status = {"cards": [{"name": H200, "quota": 3}], "columns": {"cards": f"{H200} 2/3"}}
    names = (f"q-{i}" for i in range(count))
    return a_list(*({"metadata": {"name": one, "uid": one}, "status": status} for one in names))


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    async with asyncio.timeout(60):
        _, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


@pytest.mark.slow
@pytest.mark.parametrize("output", ["text", "yaml"])
async def test_a_reader_that_ends_first_ends_it_without_a_word(tmp_path: Path, output: str) -> None:
    async with answering({QUEUES: queues(10_000)}, tmp_path) as config:
        arguments = ("top", "-o", output, "--kubeconfig", str(config))
        reading, writing = os.pipe()
        process = await asyncio.create_subprocess_exec(
            *PROGRAM, *arguments, stdout=writing, stderr=asyncio.subprocess.PIPE
        )
        os.close(writing)
        line = await asyncio.to_thread(os.read, reading, 10)
        os.close(reading)
        assert line
        assert await ended(process) == (141, "")


@pytest.mark.slow
def test_help_that_nobody_reads_ends_it_without_a_word() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, "--help"], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.usefixtures("heeding_ctrl_c")
async def test_ctrl_c_ends_it_with_130_and_without_a_word(tmp_path: Path) -> None:
    asked, never = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await never.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    config = kubeconfig(tmp_path, f"http://127.0.0.1:{port}")
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "cards", "--kubeconfig", str(config), stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        await asked.wait()
    process.send_signal(signal.SIGINT)
    assert await ended(process) == (130, "")
    never.set()
    server.close()


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_colours_are_for_terminals_and_not_where_no_color_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed() -> str:
        printing.print_lines([Text("x", style="red")])
        return capsys.readouterr().out

    assert printed() == "x\n"
    a_terminal(monkeypatch)
    assert printed() == "\x1b[31mx\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert printed() == "x\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_no_line_has_a_command_for_the_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if terminal:
        a_terminal(monkeypatch)
    printing.print_lines([Text(f"a\n{ESCAPE} é █")])
    assert capsys.readouterr().out == "a??[31mred?2J? é █\n"


def test_data_is_ascii_in_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"name": ESCAPE, "é": [1, None, True], "code": ExitCode.FOUND}
    same = {"name": ESCAPE, "é": [1, None, True], "code": 3}
    printing.print_data(found, Output.JSON)
    as_json = capsys.readouterr().out
    printing.print_data(found, Output.YAML)
    as_yaml = capsys.readouterr().out
    assert (json.loads(as_json), yaml.safe_load(as_yaml)) == (same, same)
    for text in (as_json, as_yaml):
        assert text.isascii()
        assert "\x1b" not in text
