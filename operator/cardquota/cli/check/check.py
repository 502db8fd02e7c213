"""`cardquota check`: what an administrator should look at, found with the user's own rights. Reads
the cluster, looks at it section by section, prints what was found.
"""

import asyncio
import time
from functools import partial
from pathlib import Path

from rich.text import Text

from ...cluster.api.access import AccessError
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...settings import Settings
from ..output import ExitCode, Output
from ..printing import failed, print_data, print_lines
from ..reading import ClusterError
from .cards_sections import nodes_section, queues_section
from .checked_cluster import JUDGED_BY, CheckedCluster, read_cluster, read_namespace_keys
from .installation_section import fence_section, installation_section, nobody_decides
from .installed import read_installed
from .installed_settings import read_installed_settings
from .namespaces_section import namespaces_section
from .section import CheckSection, lines
from .usage_sections import (
    Difference,
    drift_section,
    lasting_differences,
    outside_section,
    past_section,
    refused_section,
)


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
        sections = asyncio.run(_sections(kubeconfig, context, namespace, settings, given=given))
    except (AccessError, ClusterError) as error:
        return failed(error)
    return show_sections(sections, output)


async def _sections(
    kubeconfig: Path | None, context: str, namespace: str, settings: Settings, *, given: bool
) -> list[CheckSection]:
    """In the order in which they are printed; of a namespace those that are about it alone."""
    client = Client(await find_access(kubeconfig, context))
    try:
        unknown: tuple[str, ...] = ()
        if not given:
            settings, unknown = await read_installed_settings(client, settings)
        read = await read_cluster(kubeconfig, context, namespace, settings)
        keys = await read_namespace_keys(client, namespace)
        of_cluster, refused = [], []
        if not namespace:
            installed = await read_installed(client, settings)
            refused = [await refused_section(client, settings)]
            now = time.time()
            installation = installation_section(installed, settings, now, unknown)
            fence = fence_section(installed, settings, now, known=not unknown)
            free, drift = nobody_decides(installation), list[Difference]()
            if not free and not read.not_known(JUDGED_BY):
                again = partial(read_cluster, kubeconfig, context, "", settings)
                drift = await lasting_differences(read, again, asyncio.sleep)
            of_cluster = [installation, fence, *_of_cluster(read, drift, nobody_publishes=free)]
    finally:
        await client.close()
    namespaces = namespaces_section(read, keys, settings.scale.autoscalers)
    return [*of_cluster, namespaces, past_section(read), *refused, outside_section(read)]


def _of_cluster(
    read: CheckedCluster, drift: list[Difference], *, nobody_publishes: bool
) -> list[CheckSection]:
    """What is in no namespace."""
    found = drift_section(read, drift, nobody_publishes=nobody_publishes)
    return [queues_section(read), nodes_section(read), found]


def show_sections(sections: list[CheckSection], output: Output) -> int:
    """Print them. The exit code."""
    if output.is_data:
        print_data({"sections": [section.plain() for section in sections]}, output)
    else:
        print_lines(list(lines(sections)) or [Text("Nothing was found.")])
    if any(section.findings for section in sections):
        return ExitCode.FOUND
    complete = all(section.complete for section in sections)
    return ExitCode.DONE if complete else ExitCode.FAILED
