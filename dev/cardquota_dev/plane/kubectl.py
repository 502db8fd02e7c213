"""The plane's own kubectl, from the supervisor's event loop."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..failure import PlaneError

FIELD_MANAGER = "cardquota-dev"
"""The field manager of what the plane applies."""


async def apply(kubectl: Path, kubeconfig: Path, files: Sequence[Path]) -> None:
    """Server-side apply of all objects in these files. Raises PlaneError with kubectl's output."""
    named = [part for file in files for part in ("-f", str(file))]
    flags = ("apply", "--server-side", "--field-manager", FIELD_MANAGER, "--force-conflicts")
    # Its own discovery cache: the default one is in the user's home.
    with tempfile.TemporaryDirectory() as cache:
        process = await asyncio.create_subprocess_exec(
            str(kubectl),
            f"--kubeconfig={kubeconfig}",
            f"--cache-dir={cache}",
            *flags,
            *named,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # the supervisor handles Ctrl-C
        )
        try:
            _, said = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
    if process.returncode != 0:
        raise PlaneError(f"kubectl apply failed:\n{said.decode(errors='replace').strip()}")
