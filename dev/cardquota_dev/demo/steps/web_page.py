"""The operator's page: the same numbers in a browser."""

import json
import subprocess
from typing import Any
from urllib.request import urlopen

from cardquota.quota.words import counted

from ...build.installed_program import CHROMIUM, found_program
from ...paths import CHECKOUT
from ..context import Context
from ..step_error import StepError

_PICTURE = CHECKOUT / "build" / "page.png"
_PATIENCE = 60.0


def the_page_shows_it(context: Context) -> None:
    """A line of what it shows, and a picture where there is a Chromium."""
    command = f"kubectl cardquota page --no-browser --address {context.operator}"
    with context.admin.keeps(command) as url:
        with urlopen(f"{url}overview") as answer:  # noqa: S310 - the URL is of this machine
            found = json.load(answer)["overview"]
        lines = {one["name"]: _line(one) for one in found["queues"]}
        context.screen.says(f"\nIt shows, among others: {lines.get('research')}")
        if "NVIDIA-H200 3/3" not in lines.get("research", ""):
            raise StepError(command, "research with NVIDIA-H200 3/3", str(lines))
        context.screen.says(_picture(url))


def _line(queue: dict[str, Any]) -> str:
    cards = (
        f"{one['name']} {one.get('allocated', 0)}/{one.get('quota', 0)}" for one in queue["cards"]
    )
    waits = counted(queue.get("waiting", 0), "pod")
    return f"{queue['name']}: {', '.join(cards)}; {waits} at the gate"


def _picture(url: str) -> str:
    chromium = found_program(CHROMIUM)
    if chromium is None:
        return "No picture: there is no Chromium on this machine"
    _PICTURE.parent.mkdir(exist_ok=True)
    done = subprocess.run(
        [
            *(str(chromium), "--headless", "--no-sandbox", "--disable-gpu"),
            "--virtual-time-budget=2000",
            *("--window-size=1180,900", f"--screenshot={_PICTURE}", url),
        ],
        capture_output=True,
        timeout=_PATIENCE,
        check=False,
    )
    return f"A picture of it: {_PICTURE}" if done.returncode == 0 else "Chromium made no picture"
