"""Small building blocks of CEL expressions, shared by webhook objects and policies.

Guarantee: no expression built here fails on an object that lacks annotations, labels, limits or any
other optional part. Where a webhook or policy fails closed, a failing expression would refuse the
requests of users who do not use card quotas.
"""

import json
from collections.abc import Iterable
from typing import Final

from ..quota.vocabulary import GATE


def literal(text: str) -> str:
    """`text` as a CEL string. CEL accepts JSON's escapes."""
    return json.dumps(text, ensure_ascii=False)


def literals(texts: Iterable[str]) -> str:
    """A CEL list of strings."""
    return "[" + ", ".join(map(literal, texts)) + "]"


def any_of(*terms: str) -> str:
    """One of the terms holds. One line each."""
    return "\n|| ".join(f"({term})" if "\n" in term or "&&" in term else term for term in terms)


def all_of(*terms: str) -> str:
    """All terms hold. One line each."""
    return "\n&& ".join(f"({term})" if "\n" in term or "||" in term else term for term in terms)


def annotation(of: str, key: str) -> str:
    """The value of an annotation of an object or a pod template; "" if it is missing."""
    return f"{of}.?metadata.?annotations[?{literal(key)}].orValue('')"


def carries(of: str, keys: Iterable[str]) -> str:
    """Whether an object has one of these annotations, empty or not."""
    return _of_annotations(of, (f"{literal(key)} in a" for key in keys))


def carries_text(of: str, keys: Iterable[str]) -> str:
    """Whether an object has one of these annotations, and it is not empty."""
    return _of_annotations(of, (f"({literal(k)} in a && a[{literal(k)}] != '')" for k in keys))


def _of_annotations(of: str, terms: Iterable[str]) -> str:
    """Whether one of the terms holds for the annotations `a` of an object.

    A list with one element gives that element a name, so that the path is followed once; and a term
    for each key costs less than a loop over a list of them.
    """
    path = f"{of}.?metadata.?annotations.orValue({{}})"
    return f"[{path}].exists(a,\n  {' || '.join(terms)})"


def changed(keys: Iterable[str]) -> str:
    """Whether the request adds, changes or removes one of these annotations.

    At create every present annotation counts as added. Empty is not the same as absent.
    """
    old = "request.operation == 'CREATE' ? {} : oldObject.metadata.?annotations.orValue({})"
    return _annotations_differ(old, keys)


def changed_by_update(keys: Iterable[str]) -> str:
    """The same where the request is known to be an update."""
    return _annotations_differ("oldObject.metadata.?annotations.orValue({})", keys)


def _annotations_differ(old: str, keys: Iterable[str]) -> str:
    terms = " || ".join(f"a[?{literal(key)}] != b[?{literal(key)}]" for key in keys)
    return (
        f"[object.metadata.?annotations.orValue({{}})].exists(a,\n  [{old}].exists(b,\n  {terms}))"
    )


def same_but(new: str, old: str, ignored: Iterable[str]) -> str:
    """Whether two maps are equal, except for some keys.

    Every key of the new map must have its old value, and both maps must have the same number of
    other keys. Counting the ignored keys that are present costs less than a second loop over all.

    `dyn` because the type checker of policies takes `spec` for a structure, not a map, and would
    warn of every loop over its fields. A list with one element gives that element a name, so the
    paths to the maps are evaluated once.
    """
    keys = list(ignored)
    if not keys:
        return f"dyn({new}) == dyn({old})"
    free = literals(keys)
    alike = f"new.all(k, k in {free} || new[?k] == old[?k])"
    kept = (f"{one}.size() - {free}.filter(k, k in {one}).size()" for one in ("new", "old"))
    return f"[dyn({new})].all(new, [dyn({old})].all(old,\n  {alike}\n  && {' == '.join(kept)}))"


def same(fields: Iterable[str]) -> str:
    """Whether these optional fields of the object, `.?a.?b`, are unchanged."""
    return all_of(*(f"object{field} == oldObject{field}" for field in fields))


CURRENT_TERM: Final = "params.?spec.?term.orValue('')"
"""In a policy by term: the term that is in force."""


def of_term(term: str, current: str) -> str:
    """Whether a decision's term is the current one."""
    return f"{term} != '' && {term} == {current}"


def gated(pod: str) -> str:
    """Whether a pod waits at our gate."""
    gates = f"{pod}.spec.schedulingGates"
    return f"(has({gates}) && {gates}.exists(g, g.name == {literal(GATE)}))"


def user_is(name: str) -> str:
    """Whether the request comes from this user."""
    return f"request.userInfo.username == {literal(name)}"
