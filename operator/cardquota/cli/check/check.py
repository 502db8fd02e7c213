"""`cardquota check`: what an administrator should look at, found with the user's own rights. Reads
the cluster, looks at it section by section, prints what was found.
"""

import asyncio
import time
from functools import partial

from rich.text import Text

from ...settings import Settings
from ..installed_settings import read_installed_settings
from ..output import ClusterChoice, ExitCode, Output
from ..printing import print_data, print_lines
from ..reading import client_of, done
from .checked_cluster import JUDGED_BY, CheckedCluster, read_cluster
from .cluster_sections import namespaces_section, nodes_section, queues_section
from .installation_section import fence_section, installation_section, nobody_decides
from .installed import read_installed
from .reclaim_section import reclaim_section
from .section import CheckSection, lines
from .usage_sections import (
    REFUSED,
    Difference,
    drift_section,
    lasting_differences,
    outside_section,
    past_section,
    refused_section,
)


def check(
    settings: Settings, *, given: bool, namespace: str, cluster: ClusterChoice, output: Output
) -> int:
    """The exit code: 0 if there is nothing, 3 if something was found, 1 if nothing was found and it
    could not look for everything. `given`: whether `settings` are the operator's. Otherwise they
    are read from what is installed. Errors: typer.Exit, if nothing could be read.
    """
    return show_sections(done(_sections(cluster, namespace, settings, given=given)), output)


async def _sections(
    cluster: ClusterChoice, namespace: str, settings: Settings, *, given: bool
) -> list[CheckSection]:
    """In the order in which they are printed; of a namespace those that are about it alone."""
    of_cluster, refused = list[CheckSection](), CheckSection(REFUSED)
    async with client_of(cluster) as client:
        unknown: tuple[str, ...] = ()
        if not given:
            settings, unknown = await read_installed_settings(client, settings)
        read = await read_cluster(client, namespace, settings)
        if not namespace:
            now = time.time()  # the Lease is read first, and what follows takes its time
            installed = await read_installed(client, settings)
            refused = await refused_section(client, settings)
            installation = installation_section(installed, settings, now, unknown)
            fence = fence_section(installed, settings, now, known=not unknown)
            free, drift = nobody_decides(installation), list[Difference]()
            if not free and not read.not_known(JUDGED_BY):
                again = partial(read_cluster, client, "", settings)
                drift = await lasting_differences(read, again, asyncio.sleep)
            of_cluster = [installation, fence, *_of_cluster(read, drift, nobody_publishes=free)]
            of_cluster.append(reclaim_section(read, settings, now))
    namespaces = namespaces_section(read, settings.scale.autoscalers)
    return [*of_cluster, namespaces, past_section(read), refused, outside_section(read)]


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
