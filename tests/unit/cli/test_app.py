"""The commands: output, exit codes, and one line for what a user got wrong."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from typer.testing import CliRunner, Result

from cardquota import __version__
from cardquota.cli.app import app
from cardquota.cli.plugin import plugin
from cardquota.cli.simulate import Answers, PodAnswer, WorkloadAnswer, lines

CHECKOUT = Path(__file__).parents[3]
DOCUMENT = CHECKOUT / "docs" / "simulate.md"
SENTENCE = (
    "Queue <research> has insufficient <NVIDIA-H200> quota: requested <1>, total would be <4>, "
    "but capability is <3>"
)


def called(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=text)


@pytest.fixture
def files(samples: Path, tmp_path: Path) -> list[str]:
    """Nodes, queue and a deployment of four on a quota of three."""
    path = tmp_path / "four.yaml"
    path.write_text((samples / "deployment.yaml").read_text().replace("replicas: 2", "replicas: 4"))
    found = (path, samples / "nodes.yaml", samples / "queue.yaml")
    return [argument for file in found for argument in ("-f", str(file))]


def test_simulate_as_json(files: list[str]) -> None:
    result = called("simulate", *files, "--output", "json")
    assert result.exit_code == 0
    found = json.loads(result.output)
    (chat,) = found["workloads"]
    assert [pod["answer"] for pod in chat["pods"]] == ["admitted"] * 3 + ["denied"]
    assert chat["pods"][3]["text"].startswith(SENTENCE)
    assert chat["pods"][0]["cards"] == {"NVIDIA-H200": 1}
    (queue,) = found["queues"]
    assert queue["columns"]["cards"].startswith("NVIDIA-H200 3/3")
    assert queue["cards"][0]["allocated"] == 3
    assert (found["refused"], found["notes"]) == ([], [])
    assert yaml.safe_load(called("simulate", *files, "-o", "yaml").output) == found


def test_refused_queue_and_notes_come_first() -> None:
    queue = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: odd, annotations: {volcano.sh/card.quota: '[]'}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}}
"""
    result = called("simulate", "-f", "-", text=queue)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "note: standard input, document 2: Service web is skipped: not simulated",
        (
            "Queue odd: refused: annotation volcano.sh/card.quota cannot be read: it is a list, "
            'not a JSON object. Write a JSON object of whole numbers, such as {"NVIDIA-H200": 3}'
        ),
        "",
        "No queues.",
    ]


def test_many_alike_are_named_in_part() -> None:
    pods = [PodAnswer(f"p-{i}", text="full") for i in range(9)]
    answers = Answers(workloads=[WorkloadAnswer("Job", "default", "j", pods)])
    assert [line.plain for line in lines(answers)][:2] == [
        "Job default/j: 9 gated",
        "  gated      p-0, p-1, p-2, p-3 and 5 more: full",
    ]


def test_run_passes_settings_and_its_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("defaultQueue: spare\n")
    seen = []

    def run(settings: SimpleNamespace) -> int:
        seen.append(settings.default_queue)
        return 3

    monkeypatch.setitem(sys.modules, "cardquota.runtime.run", SimpleNamespace(run=run))
    assert called("run", "--config", str(config)).exit_code == 3
    assert seen == ["spare"]


def test_manifests_are_printed() -> None:
    result = called("manifests")
    assert result.exit_code == 0
    assert result.output.startswith("---\napiVersion: admissionregistration.k8s.io/v1\n")


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "cardquota.cli", "version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == f"cardquota {__version__}\n"


def test_start_imports_nothing_heavy() -> None:
    script = "import sys, cardquota.cli.app; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pydantic", "kopf", "aiohttp", "yaml", "msgspec"} & set(modules)


def test_the_document_shows_what_the_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    blocks = [one.partition("\n")[2] for one in DOCUMENT.read_text().split("```")[1::2]]
    shown = [b for b in blocks if b.startswith("$ cardquota simulate") and b.count("\n") > 1]
    assert shown
    for block in shown:
        command, _, printed = block.partition("\n")
        assert called(*command.split()[2:]).output == printed


def test_the_configuration_of_a_scheduler(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("extender: {url: 'https://10.0.0.7', packing: spread}\n")
    options = ("--kubeconfig", "/k", "--credentials", "/c", "--profile", "cards")
    result = called("scheduler-config", "--config", str(config), *options)
    assert result.exit_code == 0
    found = yaml.safe_load(result.output)
    (extender,) = found["extenders"]
    assert extender["urlPrefix"] == "https://10.0.0.7/scheduler"
    assert extender["tlsConfig"]["keyFile"] == "/c/tls.key"
    assert found["clientConnection"] == {"kubeconfig": "/k"}
    assert found["profiles"][0]["schedulerName"] == "cards"


def test_what_files_say_reaches_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "odd\x1b[2J.yaml"
    path.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: 7}\nspec: 'x'\n")
    found = called("simulate", "-f", str(path))
    assert (found.exit_code, found.stdout, found.stderr.count("\n")) == (1, "", 1)
    assert found.stderr.startswith("cardquota: ")
    assert "\x1b" not in found.stderr


@pytest.mark.parametrize("kind", ["Pod", "PodGroup"])
def test_what_was_read_from_a_live_cluster_is_refused(kind: str, files: list[str]) -> None:
    """Its pods hold what no simulation knows: nothing is answered as if they held nothing."""
    version = "v1" if kind == "Pod" else "scheduling.volcano.sh/v1beta1"
    text = f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: a, uid: u-1}}}}"
    found = called("simulate", *files, "-f", "-", text=text)
    assert (found.exit_code, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert f"-f: {kind} default/a has a uid, so it is of a live cluster" in found.stderr
    assert called("simulate", *files, "-f", "-", text=text.replace(", uid: u-1", "")).exit_code == 0


def test_the_plugin_simulates_files_alone(files: list[str]) -> None:
    job = "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {}}}"
    found = CliRunner().invoke(plugin, ["simulate", "-f", "-"], input=job)
    assert (found.exit_code, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert "the files have no queues and no nodes, and no cluster is read" in found.stderr
    assert called("simulate", "-f", "-", text=job).exit_code == 0
    found = CliRunner().invoke(plugin, ["simulate", *files])
    assert (found.exit_code, found.output) == (0, called("simulate", *files).output)
