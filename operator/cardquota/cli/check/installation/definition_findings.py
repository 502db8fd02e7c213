"""Whether the definitions of Queues, PodGroups and questions are what the settings need. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from ....control.queues.published_status import NAME, kept_of
from ....quota.vocabulary import REVIEW_GROUP, REVIEW_VERSION, TERMS, VERSION
from ... import sentences
from ...object_answer import Answer, NotRead, inner
from ..finding import Finding
from .installation_fault import fault


def definition_findings(
    definitions: Mapping[str, Answer], *, standalone: bool
) -> Iterator[Finding]:
    """`definitions`: by name. Beside Volcano those of Queues and PodGroups are its own; standalone
    ours must be there, which keep the numbers that the operator writes. Those of questions and of
    the Term are always ours: without them nobody can ask the operator, and it decides nothing.
    """
    for name, found in definitions.items():
        plural, _, group = name.partition(".")
        question = group == REVIEW_GROUP
        version = REVIEW_VERSION if question else VERSION
        advice = sentences.APPLY_DEFINITIONS if standalone else sentences.APPLY_VOLCANO
        if plural == TERMS:
            advice = sentences.APPLY_DEFINITIONS
        elif question:
            advice = sentences.apply_question(f"{group}_{plural}.yaml")
        about = ("CustomResourceDefinition", "", name)
        if isinstance(found, NotRead):
            continue
        if found is None:
            yield fault(about, "DefinitionMissing", sentences.definition_missing(name), advice)
            continue
        served = [one for one in _versions(found) if inner(one, "name") == version]
        if not served or inner(served[0], "served") is not True:
            why = sentences.definition_not_served(name, version)
            yield fault(about, "DefinitionNotServed", why, advice)
        elif standalone and name == NAME and kept_of(inner(served[0], "schema")) is None:
            why = sentences.definition_not_ours(name)
            advised = sentences.APPLY_DEFINITIONS_OR_VOLCANO
            yield fault(about, "DefinitionNotOurs", why, advised)


def _versions(found: Mapping[str, Any]) -> list[Any]:
    versions = inner(found, "spec", "versions")
    return versions if isinstance(versions, list) else []
