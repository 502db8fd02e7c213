"""The site that `make docs` builds: whole in itself, and every page is found."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from cardquota_dev.paths import CHECKOUT

DOCS = CHECKOUT / "docs"
FETCHED = {("link", "href"), ("form", "action"), ("object", "data"), ("video", "poster")}
"""What a browser asks for by itself, or sends to, beside each `src`. A link that is followed by a
reader may lead to another host.
"""


class HtmlPage(HTMLParser):
    """What a page fetches, names and links to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script"
        for key, value in attrs:
            if value is None:
                continue
            if key in ("src", "srcset") or (tag, key) in FETCHED:
                self.fetched.append(value)
            if (tag, key) == ("a", "href"):
                self.links.append(value)
            if key == "id":
                self.names.add(value)

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "html"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=CHECKOUT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, HtmlPage]:
    return {file: HtmlPage(file) for file in sorted(site.rglob("*.html"))}


def foreign(address: str) -> bool:
    return address.startswith("//") or re.match(r"[a-z][a-z+.-]*:", address) is not None


def test_no_page_asks_another_host(site: Path, pages: dict[Path, HtmlPage]) -> None:
    assert len(pages) > 30
    wrong = [
        f"{file.relative_to(site)}: {address}"
        for file, page in pages.items()
        for address in page.fetched
        if foreign(address)
    ]
    wrong += [
        f"{file.relative_to(site)}: a script with an address: {script[:200]}"
        for file, page in pages.items()
        for script in page.scripts
        if re.search(r"\w+://", script)
    ]
    for file in site.rglob("*.css"):
        wrong += re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)]*", file.read_text())
    assert wrong == []
    # The theme's script would fetch another one for these.
    assert not [file for file in pages if 'class="mermaid"' in file.read_text(encoding="utf-8")]


def test_every_link_leads_to_a_file_and_a_name(site: Path, pages: dict[Path, HtmlPage]) -> None:
    wrong = [
        f"{file.relative_to(site)}: {link}"
        for file, page in pages.items()
        for link in page.links
        if not foreign(link) and not leads_somewhere(site, file, link, pages)
    ]
    assert wrong == []


def leads_somewhere(site: Path, file: Path, link: str, pages: dict[Path, HtmlPage]) -> bool:
    path, _, name = unquote(link).partition("#")
    target = file
    if path:
        target = (site / path[1:] if path[0] == "/" else file.parent / path).resolve()
        target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return False
    return not name or name in pages[target].names or name == "__search"


def pages_of_docs() -> Iterator[str]:
    yield from (file.relative_to(DOCS).with_suffix("").as_posix() for file in DOCS.rglob("*.md"))


def test_the_navigation_has_every_page(site: Path, pages: dict[Path, HtmlPage]) -> None:
    plain = site / "checkout" / "LICENSE"  # it links to nothing itself
    found = {(plain / link).resolve() for link in pages[plain / "index.html"].links}
    assert [page for page in pages_of_docs() if site / page not in found] == []


def test_a_reason_is_found_by_searching(site: Path) -> None:
    documents = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    places = [document["location"] for document in documents]
    reasons = [re.sub(r"\W", "", line) for line in headings(DOCS / "messages.md")]
    assert len(reasons) > 20
    assert [one for one in reasons if f"messages/#{one.lower()}" not in places] == []
    assert not [place for place in places if place.startswith("checkout/")]


def test_code_in_a_table_may_have_a_pipe(site: Path) -> None:
    text = (site / "limits" / "index.html").read_text()
    assert "<code>A|B</code>" in text
    assert not [page for page in site.rglob("*.html") if "\\|" in cells(page)]


def cells(page: Path) -> str:
    return " ".join(re.findall(r"<td>(.*?)</td>", page.read_text(), re.DOTALL))


def headings(page: Path) -> list[str]:
    return re.findall(r"^## (\w+)$", page.read_text(), re.MULTILINE)


def test_what_is_linked_and_no_page_is_shown(site: Path) -> None:
    shown = (site / "checkout/manifests/base/rbac.yaml/index.html").read_text()
    assert ">manifests/base/rbac.yaml<" in shown
    assert "ClusterRole" in shown
    folder = (site / "checkout/manifests/samples/index.html").read_text()
    for sample in (CHECKOUT / "manifests" / "samples").iterdir():
        assert f">{sample.name}</a>" in folder
