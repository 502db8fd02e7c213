"""Small building blocks of CEL expressions, shared by webhook objects and policies.

Guarantee: no expression built here fails on an object that lacks annotations, labels, limits
or any other optional part. That matters: where a webhook or policy fails closed, an expression
that fails refuses the request of somebody who has nothing to do with us.

Optional chaining (`.?field`, `[?key]`) needs Kubernetes 1.30.
"""

import json
from collections.abc import Iterable

from ..quota.vocabulary import GATE


def literal(text: str) -> str:
    """`text` as a CEL string. JSON's escapes are a part of CEL's."""
    return json.dumps(text, ensure_ascii=False)


def literals(texts: Iterable[str]) -> str:
    """A CEL list of strings."""
    return "[" + ", ".join(map(literal, texts)) + "]"


def any_of(*terms: str) -> str:
    """One of the terms holds; one line each."""
    return "\n|| ".join(f"({term})" if "\n" in term or "&&" in term else term for term in terms)


def all_of(*terms: str) -> str:
    """All terms hold; one line each."""
    return "\n&& ".join(f"({term})" if "\n" in term or "||" in term else term for term in terms)


def annotation(of: str, key: str) -> str:
    """The value of an annotation of an object or a pod template, "" where there is none."""
    return f"{of}.?metadata.?annotations[?{literal(key)}].orValue('')"


def carries(of: str, keys: Iterable[str]) -> str:
    """Whether an object has one of these annotations, empty or not."""
    return f"{literals(keys)}.exists(k, {of}.?metadata.?annotations[?k].hasValue())"


def changed(keys: Iterable[str]) -> str:
    """Whether the request adds, changes or removes one of these annotations.

    At create every one that is there counts as added. Empty is not the same as absent.
    """
    old = "(request.operation == 'CREATE' ? optional.none() : oldObject.metadata.?annotations[?k])"
    return f"{literals(keys)}.exists(k,\n  object.metadata.?annotations[?k] != {old})"


def same_but(new: str, old: str, ignored: Iterable[str]) -> str:
    """Whether two maps are equal, save for some keys.

    `dyn` because the type checker of policies takes `spec` and `metadata` for structures, not
    maps, and would warn of every loop over their fields.
    """
    free = literals(ignored)
    return (
        f"dyn({new}).all(k, k in {free} || (k in dyn({old}) && dyn({new})[k] == dyn({old})[k]))\n"
        f"&& dyn({old}).all(k, k in {free} || k in dyn({new}))"
    )


def gated(pod: str) -> str:
    """Whether a pod waits at our gate."""
    return f"{pod}.spec.?schedulingGates.orValue([]).exists(g, g.name == {literal(GATE)})"


def user_is(name: str) -> str:
    """Whether the request comes from this user."""
    return f"request.userInfo.username == {literal(name)}"
