"""Plays the demo from the first line to the last, and says how long each part took."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..build.build import build
from ..failure import PlaneError
from ..paths import DEFAULT_PLANE
from ..plane.discovery import binaries
from ..plane.folder import Folder
from ..plane.state import State
from .clock import Clock
from .context import Cast
from .demo_plane import theatre
from .interruption import interruptible
from .keeping import how_to_go_on
from .screen import Screen
from .step_error import StepError
from .steps import STORY
from .user import PATIENCE, Person

FILES = Path(__file__).with_name("files")
"""What the story's people apply."""

DONE, FAILED, INTERRUPTED = 0, 1, 130
"""Exit codes: every step showed what it says; one did not; somebody ended it."""


def play(
    *,
    folder: Path | None = None,
    keep: bool = False,
    files: Path = FILES,
    patience: float = PATIENCE,
) -> int:
    """The exit code. Without a folder the plane gets a temporary one; kept, the one of `up`.

    Whatever the code, no process is left behind, unless the plane is to be kept.
    """
    screen, clock = Screen(), Clock()
    try:
        with interruptible(), _place(folder, keep=keep) as place:
            _perform(place, screen, clock, keep=keep, files=files, patience=patience)
            if keep:
                screen.says(how_to_go_on(place))
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


def _perform(
    place: Folder, screen: Screen, clock: Clock, *, keep: bool, files: Path, patience: float
) -> None:
    _have_binaries()
    clock.lap("binaries")
    with ExitStack() as stack:
        with screen.waiting("Starting a control plane of seven nodes, and the product on it ..."):
            state = stack.enter_context(theatre(place, keep=keep))
        clock.lap("start")
        screen.says(f"The files are in {files}")
        _tell(_cast(place, state, screen, files, patience), clock)
    clock.lap("end")
    screen.heading("Every step showed what it says. Seconds:")
    for part, seconds in [*clock.parts, ("in all", clock.total)]:
        screen.says(f"{seconds:6.1f}  {part}")


def _tell(cast: Cast, clock: Clock) -> None:
    for number, step in enumerate(STORY, start=1):
        title = f"{number}. {step.title}"
        cast.screen.heading(title)
        try:
            step.play(cast)
        except StepError as error:
            cast.screen.failure(title, error)
            raise
        clock.lap(title)


def _cast(place: Folder, state: State, screen: Screen, files: Path, patience: float) -> Cast:
    def person(name: str, kubeconfig: Path) -> Person:
        return Person(
            name,
            screen,
            kubectl=Path(state.bin_dir) / "kubectl",
            kubeconfig=kubeconfig,
            cache=place.private / f"kubectl-cache-{name}",
            files=files,
            patience=patience,
        )

    return Cast(
        tenant=person("tenant", place.tenant_kubeconfig),
        admin=person("admin", place.kubeconfig),
        screen=screen,
    )


def _have_binaries() -> None:
    try:
        binaries()
    except PlaneError:
        build()


@contextmanager
def _place(folder: Path | None, *, keep: bool) -> Iterator[Folder]:
    if folder is not None or keep:
        yield Folder(folder or DEFAULT_PLANE)
        return
    with tempfile.TemporaryDirectory(prefix="cardquota-demo-") as scratch:
        yield Folder(Path(scratch).resolve() / "plane")
