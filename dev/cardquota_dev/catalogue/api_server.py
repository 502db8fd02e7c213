"""What the API server itself says, from our admission policies and the schemas of our CRDs.

These texts are part of the applied objects, so they are listed from there.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from cardquota.install.policies.all_policies import policies
from cardquota.settings import Settings

from ..generate import RESOURCES

POLICIES: Final = "Admission policies"
SCHEMAS: Final = "Schemas"


def sections() -> Iterator[str]:
    """The last sections of the page."""
    yield f"## {POLICIES}\n"
    yield (
        "The API server says these by itself, whether or not the operator runs: "
        "`ValidatingAdmissionPolicy 'cardquota-pods' with binding 'cardquota-pods' denied request: "
        "…`. If the policy knows the name or value that it refuses, the message begins with it. "
        "What the policies protect is in [ways-round.md](ways-round.md).\n"
    )
    for policy in policies(Settings()):
        yield f"`{policy.name}`\n"
        yield _texts(check.message for check in policy.checks)
    yield f"## {SCHEMAS}\n"
    yield (
        'The CRDs refuse these before any webhook is asked: `The Queue "research" is invalid: '
        "<field>: Invalid value: …`. If Volcano's definition of Queue is installed, the webhook "
        "refuses the same, see [Forbidden](#forbidden).\n"
    )
    for resource in RESOURCES:
        definition = resource.definition()
        rules = list(_rules(definition))
        if rules:  # a schema may have no rule of its own
            yield f"`{definition['spec']['names']['kind']}`\n"
            yield _texts(rules)


def _texts(texts: Iterable[str]) -> str:
    """A block with a line for each text."""
    return "```text\n" + "\n".join(dict.fromkeys(texts)) + "\n```\n"


def _rules(schema: Any) -> Iterator[str]:
    """The messages of all rules in a schema, in its order."""
    if isinstance(schema, list):
        for part in schema:
            yield from _rules(part)
    elif isinstance(schema, dict):
        for rule in schema.get("x-kubernetes-validations", ()):
            yield rule["message"]
        for part in schema.values():
            yield from _rules(part)
