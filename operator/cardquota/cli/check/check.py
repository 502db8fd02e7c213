"""`cardquota check`: read the cluster, look at it section by section, print what was found."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from rich.text import Text

from ...cluster.api.access import AccessError
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...quota.words import counted, lasting, show
from ...settings import Settings
from .. import sentences
from ..cluster_error import ClusterError
from ..failure import failed
from ..output import Output
from ..printing import print_data, print_lines
from ..table import table
from .checked_cluster import JUDGED_BY, CheckedCluster, read_cluster
from .drift_section import Difference, drift_section, lasting_differences
from .finding import Finding
from .installation.fence_section import fence_section
from .installation.installation_section import (
    INSTALLATION,
    installation_section,
    nobody_decides,
)
from .installation.installed import read_installed
from .installation.installed_settings import read_installed_settings
from .known_kinds import not_known
from .namespace_keys import NamespaceKeys, read_namespace_keys
from .namespaces_section import namespaces_section
from .nodes_section import nodes_section
from .outside_section import outside_section
from .past_section import past_section
from .queues_section import queues_section
from .refused_section import REFUSED, refused_section
from .section import CheckSection

FOUND: Final = 3
"""The exit code if anything was found."""
MOST_NAMED: Final = 4
"""Objects of which one line says why. The rest are counted."""
_COLUMNS: Final = ("FINDING", "OBJECT", "QUEUE", "CARDS", "FOR")
_NOTHING: Final = "-"
_SHORT: Final = 2
"""Lines of two sections that need no empty line between them."""
"""Findings that have begun at some time, known or not. Of the others nobody asks since when."""
_LONGEST_NOTE: Final = 1_000
"""Characters: an API server, or what stands before it, may answer anything."""


def check(
    settings: Settings,
    *,
    given: bool,
    namespace: str,
    kubeconfig: Path | None,
    context: str,
    output: Output,
) -> int:
    """The exit code: 0 if there is nothing, 3 if something was found, 1 if it failed or found
    nothing and could not look for everything, 2 without a cluster.

    `given`: whether `settings` are the operator's. Otherwise they are read from what is installed.
    """
    try:
        seen = asyncio.run(_read(kubeconfig, context, namespace, settings, given=given))
    except (AccessError, ClusterError) as error:
        return failed(error)
    read, settings = seen.cluster, seen.settings
    outside = outside_section(read)
    namespaces = namespaces_section(read, seen.namespace_keys, settings.scale.autoscalers)
    past = [namespaces, past_section(read)]
    return show_sections([*_of_cluster(seen), *past, seen.refused, outside], output)


class _Looked(NamedTuple):
    """All that was read, and what of it takes more than one look."""

    settings: Settings
    cluster: CheckedCluster
    namespace_keys: list[NamespaceKeys]
    installation: tuple[CheckSection, ...] = ()
    """With the fence. Empty where a namespace is asked for."""
    drift: tuple[Difference, ...] = ()
    refused: CheckSection = CheckSection(REFUSED)


async def _read(
    kubeconfig: Path | None, context: str, namespace: str, settings: Settings, *, given: bool
) -> _Looked:
    client = Client(await find_access(kubeconfig, context))
    try:
        unknown: tuple[str, ...] = ()
        if not given:
            settings, unknown = await read_installed_settings(client, settings)
        read = await read_cluster(kubeconfig, context, namespace, settings)
        keys = await read_namespace_keys(client, namespace)
        if namespace:
            return _Looked(settings, read, keys)
        installed = await read_installed(client, settings)
        refused = await refused_section(client, settings)
    finally:
        await client.close()
    now = time.time()
    installation = installation_section(installed, settings, now, unknown)
    found = (installation, fence_section(installed, settings, now, known=not unknown))
    if nobody_decides(installation) or not_known(read, JUDGED_BY):
        return _Looked(settings, read, keys, found, (), refused)

    async def again() -> CheckedCluster:
        return await read_cluster(kubeconfig, context, "", settings, only=JUDGED_BY)

    drift = await lasting_differences(read, again, asyncio.sleep)
    return _Looked(settings, read, keys, found, tuple(drift), refused)


def _of_cluster(seen: _Looked) -> list[CheckSection]:
    """What is in no namespace."""
    if not seen.installation:
        return []
    free = nobody_decides(seen.installation[0])
    return [
        *seen.installation,
        queues_section(seen.cluster),
        nodes_section(seen.cluster),
        drift_section(seen.cluster, seen.drift, nobody_publishes=free),
    ]


def show_sections(sections: list[CheckSection], output: Output) -> int:
    """Print them. The exit code."""
    if output.is_data:
        print_data({"sections": [section.plain() for section in sections]}, output)
    else:
        print_lines(list(lines(sections)) or [Text(sentences.NOTHING_FOUND)])
    if any(section.findings for section in sections):
        return FOUND
    return 0 if all(section.complete for section in sections) else 1


def lines(sections: Iterable[CheckSection]) -> Iterator[Text]:
    """For people: of each section what could not be looked for, a table, and why, once for all with
    the same reason.
    """
    before: list[Text] = []
    for section in sections:
        printed = list(_of_section(section))
        if before and printed and len(before) + len(printed) > _SHORT:
            yield Text()
        yield from printed
        before = printed or before


def _of_section(section: CheckSection) -> Iterator[Text]:
    for note in section.notes:
        yield Text(f"note: {_in_one_line(note)}", style="dim")
    if section.notes:
        yield Text()
    if section.findings:
        yield from table([_COLUMNS, *map(_row, section.findings)])
        yield Text()
        yield from _alike(section.findings)
    elif section.name == INSTALLATION:
        yield Text(sentences.installed_rightly(complete=section.complete))


def _in_one_line(text: str) -> str:
    return show(" ".join(text.split()), most=_LONGEST_NOTE)


def _row(found: Finding) -> tuple[str, ...]:
    cards = ", ".join(f"{show(card)} {amount}" for card, amount in found.cards.items())
    return (
        found.finding.value,
        _name(found),
        show(found.queue or _NOTHING),
        cards or _NOTHING,
        _since(found),
    )


def _since(found: Finding) -> str:
    return _NOTHING if found.age is None else lasting(found.age)


def _name(found: Finding) -> str:
    name = f"{found.namespace}/{found.name}" if found.namespace else found.name
    return show(f"{found.kind} {name}", most=120)


def _alike(findings: Iterable[Finding]) -> Iterator[Text]:
    """One line for all with the same reason, in the order of the first of each. A reason that
    begins with its object names it.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for found in findings:
        key = found.finding.value, found.why_and_advice
        named = found.why.startswith(f"{found.kind} <")
        alike.setdefault(key, []).extend([] if named else [_name(found)])
    for (kind, why), names in alike.items():
        if not names:
            yield Text(f"{kind}: {why}")
            continue
        which = ", ".join(names) if len(names) <= MOST_NAMED else _first_of(names)
        yield Text(f"{kind}: {which}: {why}")


def _first_of(names: list[str]) -> str:
    return f"{counted(len(names), 'object')}, the first is {names[0]}"
