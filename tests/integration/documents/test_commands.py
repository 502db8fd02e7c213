"""What the pages tell an administrator to type works, in that order, and shows what they show."""

from collections.abc import Callable, Iterator

import pytest

from cardquota.cli.output import ExitCode
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import eventually, running_plane
from harness.console_blocks import console_commands
from integration.asking import ask

from .reader import Reader, yaml_blocks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

FIRST_DAY, OPERATIONS = CHECKOUT / "docs/first-day.md", CHECKOUT / "docs/operations.md"
INSTALL, README = CHECKOUT / "docs/install.md", CHECKOUT / "README.md"

NOT_RUN = {
    "pip install -c constraints.txt .": "the commands are those of the test's own environment",
}
"""By command, why nobody runs it here."""
ENDS_WITH = {"kubectl cardquota check --audit": ExitCode.FOUND}
"""By command, its exit code if it is not 0."""


def looks_first(reader: Reader) -> None:
    """The kustomization of the install guide, with the component of the first day."""
    component, *_ = yaml_blocks(FIRST_DAY)
    reader.writes(yaml_blocks(INSTALL)[0] + component)


def writes_queue_and_namespace(reader: Reader) -> None:
    """The README's queue, and a team's namespace."""
    queue, *_ = yaml_blocks(README)[0].split("---\n")
    reader.cluster.apply(queue)
    reader.cluster.apply("{apiVersion: v1, kind: Namespace, metadata: {name: research}}")


def lets_some_days_pass(reader: Reader) -> None:
    """A team fills its quota, then twelve pods come that would wait, and three too many."""
    pods = "/api/v1/namespaces/research/pods"
    eventually(lambda: ask(reader.cluster, "POST", pods, pod("serves", cards=3)).ok, "a pod")
    eventually(
        lambda: "NVIDIA-H200 3/3" in reader.runs("kubectl get queue research")[1], "a full queue"
    )
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "trains"},
        "spec": {"parallelism": 12, "completions": 12, "template": pod("", cards=1, never=True)},
    }
    assert ask(reader.cluster, "POST", "/apis/batch/v1/namespaces/research/jobs", job).ok
    for number in range(3):
        assert ask(reader.cluster, "POST", pods, pod(f"more-{number}", cards=1)).ok


def pod(name: str, *, cards: int, never: bool = False) -> dict[str, object]:
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": cards}}}
    annotations = {"volcano.sh/card.name": "NVIDIA-H200"}
    spec = {"containers": [container], **({"restartPolicy": "Never"} if never else {})}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": spec}


def covers_labelled_namespaces(reader: Reader) -> None:
    """The component `labelled` for `labelled-audit`."""
    assert "components/labelled-audit" in reader.written()
    reader.writes(reader.written().replace("components/labelled-audit", "components/labelled"))


BEFORE: dict[tuple[str, str], Callable[[Reader], None]] = {
    ("first-day.md", "kubectl apply -k ."): looks_first,
    ("first-day.md", "kubectl annotate namespace"): writes_queue_and_namespace,
    ("first-day.md", "kubectl cardquota check --audit"): lets_some_days_pass,
    ("first-day.md", "kubectl label namespace research volcano.sh/card-quota=enforced"): (
        covers_labelled_namespaces
    ),
}
"""By page and how a command begins: what the page says in words before it, the first time."""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("documents")
    with running_plane(folder / "plane", replicas=0) as cluster:
        reader = Reader(cluster, folder)
        try:
            yield reader
        finally:
            reader.ends()


def test_the_pages_in_the_order_of_an_administrators_days(reader: Reader) -> None:
    not_run, before = dict(NOT_RUN), dict(BEFORE)
    for page in (FIRST_DAY, OPERATIONS):
        for command in console_commands(page.read_text()):
            for name, begins in list(before):
                if name == page.name and command.text.startswith(begins):
                    before.pop((name, begins))(reader)
            if command.text in NOT_RUN:
                not_run.pop(command.text, None)
                continue
            if command.text == "kubectl apply -k .":
                reader.applies()
            else:
                reader.types(command, ENDS_WITH.get(command.text, ExitCode.DONE))
        if page == FIRST_DAY:
            asks_again_and_is_refused(reader)
    assert (not_run, before) == ({}, {}), "no page has these commands any more"


def asks_again_and_is_refused(reader: Reader) -> None:
    """As the page says in the end of its step 5."""
    (probe,) = (
        one.text for one in console_commands(FIRST_DAY.read_text()) if " run probe " in one.text
    )
    eventually(lambda: "Error from server" in reader.runs(probe)[1], "a refusal", 30, every=0.5)
    status, said = reader.runs(probe)
    assert status == 1
    assert "insufficient <NVIDIA-H200> quota: requested <100>" in said
    assert "audit" not in said
