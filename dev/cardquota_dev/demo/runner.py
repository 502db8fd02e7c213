"""Runs the demo from the first step to the last, and says how long each took."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..build.build import build_control_plane
from ..build.installed_program import LackingError
from ..failure import PlaneError
from ..paths import DEFAULT_PLANE
from ..plane.discovery import binaries
from ..plane.folder import Folder
from ..plane.real_node.requirements import provide
from ..plane.state import PlaneState
from .clock import Clock
from .context import Context
from .demo_plane import demo_plane
from .interruption import interruptible
from .keeping import how_to_go_on
from .screen import Screen
from .step_error import StepError
from .steps.order import STEPS
from .user import TIMEOUT, User

FILES = Path(__file__).with_name("files")
"""The files that the users of the demo apply."""

DONE, FAILED, INTERRUPTED = 0, 1, 130
"""Exit codes: every step showed what it says; one did not; it was interrupted."""


def run(
    *,
    folder: Path | None = None,
    keep: bool = False,
    files: Path = FILES,
    timeout: float = TIMEOUT,
) -> int:
    """Returns the exit code. Without `folder` the plane is in a temporary folder, or in that of
    `up` if it is kept.

    Whatever the code, no process is left behind, unless the plane is kept.
    """
    screen, clock = Screen(), Clock()
    try:
        with interruptible(), _plane_folder(folder, keep=keep) as plane_folder:
            _run_on_plane(plane_folder, screen, clock, keep=keep, files=files, timeout=timeout)
            if keep:
                screen.says(how_to_go_on(plane_folder))
    except StepError:
        if keep:
            screen.says(how_to_go_on(Folder(folder or DEFAULT_PLANE)))
        return FAILED
    except PlaneError as error:
        screen.error(str(error))
        return FAILED
    except KeyboardInterrupt:
        screen.error("interrupted; everything it had started has ended")
        return INTERRUPTED
    return DONE


def _run_on_plane(
    folder: Folder, screen: Screen, clock: Clock, *, keep: bool, files: Path, timeout: float
) -> None:
    _have_binaries()
    lacking = _provide_real_node()
    clock.lap("binaries")
    nodes = "seven nodes" if lacking else "seven simulated nodes and a real one"
    with ExitStack() as stack:
        with screen.waiting(f"Starting a control plane of {nodes}, and the product on it ..."):
            state = stack.enter_context(demo_plane(folder, keep=keep, real_node=not lacking))
        clock.lap("start")
        screen.says(f"The files are in {files}")
        _run_steps(_context(folder, state, screen, files, timeout, lacking), clock)
    clock.lap("end")
    screen.heading("Every step showed what it says. Seconds:")
    for part, seconds in [*clock.parts, ("in all", clock.total)]:
        screen.says(f"{seconds:6.1f}  {part}")


def _run_steps(context: Context, clock: Clock) -> None:
    for number, step in enumerate(STEPS, start=1):
        title = f"{number}. {step.title}"
        context.screen.heading(title)
        try:
            step.run(context)
        except StepError as error:
            context.screen.failure(title, error)
            raise
        clock.lap(title)


def _context(
    folder: Folder, state: PlaneState, screen: Screen, files: Path, timeout: float, lacking: str
) -> Context:
    def user(name: str, kubeconfig: Path) -> User:
        return User(
            name,
            screen,
            kubectl=Path(state.bin_dir) / "kubectl",
            kubeconfig=kubeconfig,
            cache=folder.private / f"kubectl-cache-{name}",
            files=files,
            timeout=timeout,
        )

    return Context(
        tenant=user("tenant", folder.tenant_kubeconfig),
        admin=user("admin", folder.kubeconfig),
        screen=screen,
        operator=state.process("cardquota-0").address,
        node_lacks=lacking,
    )


def _have_binaries() -> None:
    try:
        binaries()
    except PlaneError:
        build_control_plane()


def _provide_real_node() -> str:
    """Why there can be none on this machine. Empty: all of it is there."""
    try:
        provide()
    except LackingError as error:
        return str(error)
    return ""


@contextmanager
def _plane_folder(folder: Path | None, *, keep: bool) -> Iterator[Folder]:
    if folder is not None or keep:
        yield Folder(folder or DEFAULT_PLANE)
        return
    with tempfile.TemporaryDirectory(prefix="cardquota-demo-") as scratch:
        yield Folder(Path(scratch).resolve() / "plane")
