"""`cardquota simulate --timeline`: read the files and the trace, simulate, print, draw."""

import sys
from collections.abc import Sequence

from ....quota.words import counted
from ....settings import Settings
from ...files.inventory import Inventory, sort_documents
from ...files.yaml_files import STDIN, YamlFileError, read_files
from ...printing import in_one_line, print_lines
from ..simulation import Simulation
from .timeline import Timeline
from .timeline_options import TimelineOptions
from .timeline_picture import write_picture
from .timeline_report import timeline_json, timeline_lines, timeline_report
from .trace_file import TraceError, read_trace, write_trace
from .trace_generator import generated_trace
from .trace_job import MOST_PODS, TraceJob


def timeline(
    files: Sequence[str], options: TimelineOptions, settings: Settings, *, as_json: bool
) -> int:
    """The exit code: 0 if the simulation ran, whatever it found; 1 if a file cannot be read or
    written. What is wrong with a file is said before anything is simulated.
    """
    try:
        inventory = sort_documents(read_files(files))
        if options.starvation_wait is not None:
            release = settings.release.model_copy(
                update={"starvation_wait": options.starvation_wait}
            )
            settings = settings.model_copy(update={"release": release})
        simulation = Simulation(settings, inventory)
        simulation.see_cluster()
        jobs = _jobs(files, options, inventory, simulation)
        if options.write_trace is not None:
            write_trace(options.write_trace, jobs)
        records = Timeline(simulation, jobs).run()
        if inventory.workloads:
            number = counted(len(inventory.workloads), "workload")
            note = f"{number} of the files left out: a timeline runs the jobs of its trace"
            simulation.answers.notes.append(note)
        found = timeline_report(records, simulation.ledger, simulation.finished())
        if as_json:
            sys.stdout.writelines(timeline_json(found))
        else:
            print_lines(timeline_lines(found))
        if options.svg is not None:
            write_picture(options.svg, found)
    except (YamlFileError, TraceError) as error:
        said = str(error).splitlines()
        sys.stderr.writelines(f"cardquota: {in_one_line(line)}\n" for line in said)
        return 1
    return 0


def _jobs(
    files: Sequence[str], options: TimelineOptions, inventory: Inventory, simulation: Simulation
) -> list[TraceJob]:
    """Raises TraceError."""
    if options.trace == STDIN and STDIN in files:
        raise TraceError(["standard input can be either the trace or a file of objects"])
    if options.trace:
        return read_trace(options.trace)
    found = generated_trace(inventory, simulation.ledger, jobs=options.jobs, seed=options.seed)
    if not found:
        raise TraceError(["no Queue of the files has a quota: there is nothing to make jobs for"])
    pods = sum(job.pods for job in found)
    if pods > MOST_PODS:
        text = f"the made-up jobs have {pods:,} pods together, and at most {MOST_PODS:,} are run"
        raise TraceError([f"{text}: ask for fewer --jobs"])
    return found
