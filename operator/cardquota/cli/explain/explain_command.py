"""`kubectl cardquota explain KIND NAME`: ask, and print the answer."""

import asyncio
from pathlib import Path

import msgspec

from ...cluster.api.access import AccessError
from ...quota.answers.answer_forms import Explanation
from ...quota.vocabulary import WORKLOAD_REVIEWS
from ..failure import failed
from ..output import Output
from ..printing import print_data, print_lines
from ..reviews.ask import ask
from ..reviews.no_answer import NoAnswerError
from .explain_lines import explain_lines
from .kind_names import NamedKind


def explain(
    kind: NamedKind,
    name: str,
    *,
    namespace: str,
    kubeconfig: Path | None,
    context: str,
    output: Output,
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
        return failed(error)
    if output.is_data:
        print_data(msgspec.to_builtins(found), output)
    else:
        print_lines(explain_lines(found))
    return 0
