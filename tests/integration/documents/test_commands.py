"""What the pages tell an administrator to type works, in that order, and shows what they show."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cardquota.cli.output import ExitCode
from cardquota_dev.testing import eventually, running_plane
from harness.console_blocks import DocumentedCommand, console_commands

from .reader import Reader
from .situations import BEFORE, FIRST_DAY, INSTALL, OPERATIONS, REVIEWS

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

PAGES = (FIRST_DAY, INSTALL, REVIEWS, OPERATIONS)
"""In the order of an administrator's days. The others: tests/unit/test_documented_commands.py."""
NOT_RUN = {
    (FIRST_DAY.name, "pip install "): "the commands are those of the test's own environment",
    (INSTALL.name, "make image "): "tests/integration/image builds the images",
    (INSTALL.name, "skopeo copy "): "there is no registry",
    (INSTALL.name, "python -m cardquota_dev.chart."): "tests/integration/install applies that file",
    (INSTALL.name, "kubectl create namespace "): "for Helm: tests/integration/chart",
    (INSTALL.name, "kubectl label namespace "): "for Helm: tests/integration/chart",
    (INSTALL.name, "helm install "): "tests/integration/chart",
    (
        INSTALL.name,
        "kubectl cardquota cards",
    ): "tests/unit/cli/commands/test_cards.py has its nodes",
}
"""By page and how a command begins, why nobody runs it here."""
ENDS_WITH = {
    "kubectl cardquota check --audit": ExitCode.FOUND,
    "kubectl -n cardquota-system delete lease cardquota --dry-run=server": ExitCode.FAILED,
}
"""By command, its exit code if it is not 0."""


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
    for page in PAGES:
        for command in console_commands(page.read_text()):
            if (happens := _entry(before, page, command)) is not None:
                before.pop(happens)(reader)
            if (left_out := _entry(NOT_RUN, page, command)) is not None:
                not_run.pop(left_out, None)
            elif command.text == "kubectl apply -k .":
                reader.applies()
            else:
                reader.types(command, ENDS_WITH.get(command.text, ExitCode.DONE))
        if page == FIRST_DAY:
            asks_again_and_is_refused(reader)
    assert (not_run, before) == ({}, {}), "no page has these commands any more"


def _entry(
    table: Iterable[tuple[str, str]], page: Path, command: DocumentedCommand
) -> tuple[str, str] | None:
    found = (one for one in table if one[0] == page.name and command.text.startswith(one[1]))
    return next(found, None)


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
