"""Where a link of a page leads on the site.

In the checkout a link is a path from the page's own file. Markdown becomes a page of the site, at
the path that it has in `docs/` or else in the checkout. Any other file becomes a page that shows
it, and a folder one that lists its files, below `checkout/`.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Final

from ..paths import CHECKOUT

DOCS: Final = CHECKOUT / "docs"
SHOWN: Final = "checkout"
"""The folder of the site for files that are no pages."""

_FENCE: Final = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_ROW: Final = re.compile(r"^\|.*$", re.MULTILINE)
_CODE: Final = re.compile(r"`[^`]+`")
_LANGUAGES: Final = {".yaml": "yaml", ".py": "python", ".json": "json", ".conf": "yaml"}


def site_path(file: Path) -> str:
    """The page that shows a file or folder of the checkout: its source path on the site."""
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    path = file.relative_to(CHECKOUT).as_posix()
    if file.is_dir():
        return f"{SHOWN}/{path}/index.md"
    return path if file.suffix == ".md" else f"{SHOWN}/{path}.md"


def targets(file: Path, text: str) -> Iterator[Path]:
    """The files and folders of the checkout that a page links to. The page is at `file`."""
    for part in _prose(text):
        for link in _LINK.findall(part):
            target = _target(file, link)
            if target is not None:
                yield target


def rewritten(file: Path, text: str) -> str:
    """The page as mkdocs needs it: with the links of the site, and code in tables without the
    backslash before a pipe, which only GitHub wants. A link to no file stays: mkdocs reports it.
    """
    page = PurePosixPath(site_path(file))

    def link(found: re.Match[str]) -> str:
        target = _target(file, found[1])
        if target is None:
            return found[0]
        _, hash_, anchor = found[1].partition("#")
        return f"]({relpath(site_path(target), page.parent)}{hash_}{anchor})"

    return _outside_fences(text, lambda part: _plain_pipes(_LINK.sub(link, part)))


def shown(file: Path) -> str:
    """The page of a file, or of a folder with links to its files."""
    path = file.relative_to(CHECKOUT)
    heading = f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n"
    if file.is_dir():
        folder = PurePosixPath(site_path(file)).parent
        links = ((one.name, relpath(site_path(one), folder)) for one in files_of(file))
        return heading + "".join(f"- [{name}]({link})\n" for name, link in links)
    language = _LANGUAGES.get(file.suffix, "text")
    return f"{heading}````{language}\n{file.read_text(encoding='utf-8').rstrip()}\n````\n"


def files_of(folder: Path) -> list[Path]:
    """What its page lists."""
    return sorted(one for one in folder.iterdir() if not one.name.startswith("."))


def _target(file: Path, link: str) -> Path | None:
    path = link.partition("#")[0]
    if not path or "://" in path:
        return None
    target = (file.parent / path).resolve()
    return target if target.is_relative_to(CHECKOUT) and target.exists() else None


def _plain_pipes(prose: str) -> str:
    def row(found: re.Match[str]) -> str:
        return _CODE.sub(lambda code: code[0].replace(r"\|", "|"), found[0])

    return _ROW.sub(row, prose)


def _prose(text: str) -> list[str]:
    return _FENCE.split(text)


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    fences = [*_FENCE.findall(text), ""]
    parts = zip(_prose(text), fences, strict=True)
    return "".join(change(prose) + fence for prose, fence in parts)
