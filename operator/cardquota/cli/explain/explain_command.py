"""`kubectl cardquota explain KIND NAME`: ask, and print the answer."""

import asyncio
import sys
from pathlib import Path

from ...cluster.api.access import AccessError
from ...quota.answers.answer_forms import Explanation
from ...quota.vocabulary import WORKLOAD_REVIEWS
from ..printing import print_lines
from ..reviews.answer_output import AnswerOutput
from ..reviews.ask import ask
from ..reviews.no_answer import NoAnswerError
from ..reviews.print_answer import print_answer
from .explain_lines import explain_lines
from .kind_names import NamedKind


def explain(
    kind: NamedKind,
    name: str,
    *,
    namespace: str,
    kubeconfig: Path | None,
    context: str,
    output: AnswerOutput,
) -> int:
    """The exit code: 0 if it was explained, 1 if it could not be, 2 if no cluster was found.

    `namespace`: empty: that of the context.
    """
    spec = {"kind": kind.kind, "name": name}
    if kind.api_version:
        spec["apiVersion"] = kind.api_version
    question = ask(
        Explanation,
        "WorkloadReview",
        WORKLOAD_REVIEWS,
        spec,
        namespaced=True,
        namespace=namespace,
        kubeconfig=kubeconfig,
        context=context,
    )
    try:
        found = asyncio.run(question)
    except (AccessError, NoAnswerError) as error:
        sys.stderr.write(f"cardquota: {' '.join(str(error).split())}\n")
        return 2 if isinstance(error, AccessError) else 1
    if output is AnswerOutput.TEXT:
        print_lines(explain_lines(found))
    else:
        print_answer(found, output)
    return 0
