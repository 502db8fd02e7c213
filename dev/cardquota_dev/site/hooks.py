"""What mkdocs calls while it builds the site."""

from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from cardquota_dev.paths import CHECKOUT
from cardquota_dev.site.checkout_links import DOCS, files_of, rewritten, shown, site_path, targets

HOME = CHECKOUT / "README.md"


class TwoSpaces(Extension):
    """What continues an item of a list is indented by two spaces, as GitHub reads it."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Called by Markdown, before it has other extensions: parsers copy the number."""
        md.tab_length = 2
        md.build_parser()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Markdown is read as GitHub reads it."""
    config.markdown_extensions.insert(0, TwoSpaces())  # type: ignore[arg-type]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not in `docs/`: README and what is linked to, from page to page."""
    open_, seen = [HOME, *sorted(DOCS.rglob("*.md"))], set[Path]()
    while open_:
        file = open_.pop()
        if file in seen:
            continue
        seen.add(file)
        if file.is_dir():
            open_ += files_of(file)
        elif file.suffix == ".md":
            open_ += targets(file, file.read_text(encoding="utf-8"))
        if not file.is_relative_to(DOCS):
            files.append(_page(file, config))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The links of a page lead to pages of the site."""
    source = CHECKOUT / page.file.src_uri
    if (DOCS / page.file.src_uri).exists():
        source = DOCS / page.file.src_uri
    return rewritten(source, markdown) if source.exists() else markdown


def _page(file: Path, config: MkDocsConfig) -> File:
    if file.suffix == ".md":
        return File.generated(config, site_path(file), abs_src_path=str(file))
    return File.generated(config, site_path(file), content=shown(file))
