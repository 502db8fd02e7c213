"""Of every page that shows commands it is said who runs them, or why nobody does."""

from pathlib import Path

from harness.console_blocks import console_commands
from integration.documents.test_commands import PAGES

ROOT = Path(__file__).parents[2]
OTHERS = {
    "CONTRIBUTING.md": "tests/integration/release_files makes a release",
    "README.md": "tests/integration/dev/test_demo.py compares it with the demo",
    "docs/benchmarks.md": "they take 40 minutes",
    "docs/development.md": "make up and the real node: tests/integration/dev, image and node",
    "docs/extender.md": "files of a control plane's own machines; the plane has them its own way",
    "docs/migration/from-capacity.md": "Volcano's own namespace and ConfigMaps",
    "docs/node.md": "cards of a node",
    "docs/page.md": "tests/integration/page opens it",
    "docs/runbook.md": "faults, with the names of one's own cluster",
    "docs/simulate.md": "tests/unit/cli/test_app.py compares it",
    "docs/sizing.md": "metrics-server, and benchmarks",
    "docs/volcano.md": "Volcano's own Deployment and ConfigMaps",
}
"""Pages whose commands tests/integration/documents does not run, and why."""


def test_every_page_with_commands_is_run_or_says_why_not() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    commands = {page for page in pages if console_commands(page.read_text())}
    named = {ROOT / name for name in OTHERS}
    assert sorted(commands - set(PAGES) - named) == []
    assert sorted(named - commands) == []
    assert named.isdisjoint(PAGES)
