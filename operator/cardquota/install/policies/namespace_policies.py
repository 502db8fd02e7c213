"""Which values of the namespace label for our mode may be written.

An unknown value would enforce nothing, while its administrator would believe that it does. Only a
write that gives the label its value is checked. If such a label came past us, other changes of its
namespace are admitted.
"""

from typing import Final

from ...quota.vocabulary import NAMESPACE_MODE, NAMESPACE_MODES
from ...settings import Settings
from ..cel import literal, literals
from .admission_policy import AdmissionPolicy, Check, Rule

_LABEL: Final = f"object.metadata.?labels[?{literal(NAMESPACE_MODE)}]"
_WRITE: Final = f"write {', '.join(NAMESPACE_MODES[:-1])} or {NAMESPACE_MODES[-1]}"

_BESIDE: Final = ("namespaces/status", "namespaces/finalize")
"""Writes of these can set labels too."""


def namespace_mode(settings: Settings) -> AdmissionPolicy:
    """The label has a known value, or none. An empty value counts as none."""
    old = _LABEL.replace("object.", "oldObject.", 1)
    advice = f"which is unknown; {_WRITE}, or leave it out"
    return AdmissionPolicy(
        "namespaces",
        Rule("namespaces", ("CREATE", "UPDATE"), beside=_BESIDE),
        conditions={
            "label-written": f"{_LABEL}.orValue('') != ''\n"
            f"&& (request.operation == 'CREATE' || {_LABEL} != {old})",
            "not-exempt": f"!(object.metadata.?name.orValue('') in "
            f"{literals(settings.unwatched_namespaces)})",
        },
        checks=(
            Check(
                f"{_LABEL}.orValue('') in {literals(NAMESPACE_MODES)}",
                f"the label {NAMESPACE_MODE} of this namespace has a value {advice}",
                "'namespace <' + object.metadata.?name.orValue('') + "
                f"'>: the label {NAMESPACE_MODE} is <' + {_LABEL}.orValue('')\n"
                f"+ '>, ' + {literal(advice)}",
            ),
        ),
    )
