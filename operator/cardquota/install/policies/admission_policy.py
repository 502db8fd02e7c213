"""One policy of the API server and its binding, from the few things that differ.

Policies are evaluated inside the API server, without a call, so they hold while we are down. A
validating one refuses where enforcement is on. In audit mode its binding only records and warns;
that of questions refuses there too. A mutating one needs a newer Kubernetes (`GATE_BY_POLICY`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...quota.vocabulary import LEASE, REVIEW_GROUP, REVIEW_VERSION, TERM, TERM_KIND
from ...settings import InstallationMode, Settings
from ..cel import CURRENT_TERM, all_of, annotation, any_of, literal, of_term

PREFIX: Final = "cardquota-"
_API: Final = "admissionregistration.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class RequestRule:
    """Which requests a policy covers, before any expression."""

    resource: str
    operations: tuple[str, ...]
    group: str = ""
    version: str = "v1"
    more: tuple[str, ...] = ()
    """More resources of the group, such as subresources that can write the same fields."""
    elsewhere: "tuple[RequestRule, ...]" = ()
    """More resources, of other groups. Their operations are those of this one."""


@dataclass(frozen=True, slots=True)
class Check:
    """A condition, and the text if it does not hold."""

    expression: str
    message: str
    """The plain text; also used if `detail` cannot be evaluated."""
    detail: str = ""
    """CEL of the same text with the names and values of the request."""
    surely: str = ""
    """CEL that does not read `namespaceObject`: if it holds, so does the expression, in every
    namespace. Required if the expression reads `namespaceObject`."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One of several rules that share a policy (see `joined`)."""

    what: str
    """A CEL identifier."""
    operations: tuple[str, ...]
    when: str
    """CEL: the requests that it is about."""
    checks: tuple[Check, ...]
    where: str = ""
    """CEL over `namespaceObject`: the namespaces in which it holds. Empty: all."""
    checks_first: bool = False
    """Whether the checks cost less than `when` and usually decide: who writes, which term."""


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """A rule that the API server enforces by itself."""

    what: str
    rule: RequestRule
    conditions: dict[str, str]
    """CEL by name. The rest is evaluated only if all hold. They see no namespace or variables."""
    checks: tuple[Check, ...]
    namespaces: dict[str, Any] | None = None
    """Namespace selector. None: everywhere."""
    updated_elsewhere: dict[str, Any] | None = None
    """Namespace selector of a second binding, which is for updates alone. None: there is none."""
    labelled: str = ""
    """Only objects that have this label before or after the request; empty: all. Others cost
    nothing: their labels are looked at before any object is converted."""
    by_term: bool = False
    """Whether `params` is our Term. While there is none, or no kind Term, the policy allows
    everything."""
    denies_in_audit: bool = False
    """Whether it refuses in audit mode too: then it must refuse nothing that pods need."""
    variables: dict[str, str] = field(default_factory=dict)
    """CEL by name, for the checks."""

    @property
    def name(self) -> str:
        """Name of the policy and of its binding."""
        return PREFIX + self.what

    def policy(self) -> dict[str, Any]:
        """The ValidatingAdmissionPolicy."""
        # While the kind of the parameter is missing, Fail would refuse every request that the rule
        # matches, before any condition is evaluated: no managed pod could be updated.
        spec: dict[str, Any] = {"failurePolicy": "Ignore" if self.by_term else "Fail"}
        if self.by_term:
            version = f"{REVIEW_GROUP}/{REVIEW_VERSION}"
            spec["paramKind"] = {"apiVersion": version, "kind": TERM_KIND}
        constraints = _constraints(self.rule)
        if self.labelled:
            has = {"key": self.labelled, "operator": "Exists"}
            constraints["objectSelector"] = {"matchExpressions": [has]}
        spec["matchConstraints"] = constraints
        spec["matchConditions"] = _named(self.conditions)
        if self.variables:
            spec["variables"] = _named(self.variables)
        spec["validations"] = [_validation(check) for check in self.checks]
        return _document("ValidatingAdmissionPolicy", self.name, spec)

    def bindings(self, settings: Settings) -> list[dict[str, Any]]:
        """The ValidatingAdmissionPolicyBindings."""
        where: dict[str, Any] = {}
        if self.namespaces:
            where = {"namespaceSelector": self.namespaces}
        found = [self._binding(settings, self.name, where)]
        if self.updated_elsewhere:
            where = {
                "namespaceSelector": self.updated_elsewhere,
                "resourceRules": _rules(replace(self.rule, operations=("UPDATE",))),
            }
            found.append(self._binding(settings, f"{self.name}-updated", where))
        return found

    def _binding(self, settings: Settings, name: str, where: dict[str, Any]) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "policyName": self.name,
            "validationActions": self._actions(settings.mode),
        }
        if self.by_term:
            # Not Deny, for the same reason. The owner's policy beside this one has no parameter.
            spec["paramRef"] = {
                "name": LEASE,
                "namespace": settings.namespace,
                "parameterNotFoundAction": "Allow",
            }
        if where:
            spec["matchResources"] = where
        return _document("ValidatingAdmissionPolicyBinding", name, spec)

    def _actions(self, mode: InstallationMode) -> list[str]:
        if mode is InstallationMode.ENFORCE or self.denies_in_audit:
            return ["Deny"]
        return ["Warn", "Audit"]


def term_check(settings: Settings, plain: str, detail: str, will: str) -> Check:
    """The decision's annotation names the current term (E11): what the API server itself refuses to
    a leader that was paused and comes back. For a policy with TERM_VARIABLES. `plain`: what may be
    done then; `detail`: the same as CEL, in a string that goes on; `will`: what the leader does.
    """
    stale = (
        f"the annotation {TERM} is not the term in Term <{settings.namespace}/{LEASE}>; "
        f"a replica that has lost the Lease must stop; the current leader will {will}"
    )
    return Check(
        of_term("variables.term", "variables.current"),
        f"{plain} only in the current term: {stale}",
        f"{detail} only in the current term <' + variables.current + '>, not in <' + "
        f"variables.term\n+ '>: ' + {literal(stale)}",
    )


TERM_VARIABLES: Final = {"term": annotation("object", TERM), "current": CURRENT_TERM}


def joined(
    what: str, rule: RequestRule, clauses: Sequence[Clause], *, updates: str = ""
) -> AdmissionPolicy:
    """One policy for all clauses, whose conditions hold if any clause is violated.

    The rule's operations are ignored; those of the clauses are used. `updates`: CEL that costs
    little and holds for each update that may violate a clause.

    The API server converts the object and the old one into maps for every policy and every step of
    it: two conversions for a policy whose conditions do not hold, eight for one whose conditions
    do. For a patch that opens a gate this was most of the cost when each clause was a policy that
    found nothing wrong. Requests outside the conditions are allowed; the checks judge the rest.
    """
    operations = tuple(dict.fromkeys(name for clause in clauses for name in clause.operations))
    broken = {
        operation: any_of(*(_broken(c) for c in clauses if operation in c.operations))
        for operation in operations
    }
    if updates:
        broken["UPDATE"] = all_of(updates, broken["UPDATE"])
    return AdmissionPolicy(
        what,
        replace(rule, operations=operations),
        conditions={"may-be-unlawful": _by_operation(broken)},
        variables={clause.what: _about(clause, operations) for clause in clauses},
        checks=tuple(
            replace(check, expression=_only(clause, check))
            for clause in clauses
            for check in clause.checks
        ),
    )


def _by_operation(expressions: dict[str, str]) -> str:
    """What is evaluated for each operation; for the last one without asking which it is."""
    (operation, expression), *others = expressions.items()
    if not others:
        return expression
    rest = _by_operation(dict(others))
    return f"request.operation == {literal(operation)}\n? ({expression})\n: ({rest})"


def _about(clause: Clause, operations: tuple[str, ...]) -> str:
    if set(clause.operations) == set(operations):
        return clause.when
    among = any_of(*(f"request.operation == {literal(name)}" for name in clause.operations))
    return all_of(among, clause.when)


def _broken(clause: Clause) -> str:
    unkept = f"!({_kept(clause)})"
    return all_of(unkept, clause.when) if clause.checks_first else all_of(clause.when, unkept)


def _kept(clause: Clause) -> str:
    # Two checks may have the same.
    return all_of(*dict.fromkeys(check.surely or check.expression for check in clause.checks))


def _only(clause: Clause, check: Check) -> str:
    elsewhere = [f"!({clause.where})"] if clause.where else []
    return any_of(f"!variables.{clause.what}", *elsewhere, check.expression)


def _document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"app.kubernetes.io/name": "cardquota"}}
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}


def _constraints(rule: RequestRule) -> dict[str, Any]:
    return {"matchPolicy": "Equivalent", "resourceRules": _rules(rule)}


def _rules(rule: RequestRule) -> list[dict[str, Any]]:
    return [
        {
            "apiGroups": [one.group],
            "apiVersions": [one.version],
            "resources": [one.resource, *one.more],
            "operations": list(rule.operations),
        }
        for one in (rule, *rule.elsewhere)
    ]


def _named(expressions: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "expression": text} for name, text in expressions.items()]


def _validation(check: Check) -> dict[str, str]:
    # Forbidden, so that our own client can tell a refusal by policy (403) from an object that has
    # changed (409) or is another one (422).
    validation = {
        "expression": check.expression,
        "message": check.message,
        "reason": "Forbidden",
    }
    if check.detail:
        validation["messageExpression"] = check.detail
    return validation


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change that the API server makes to pods at create."""

    what: str
    conditions: dict[str, str]
    """CEL by name. The patch is evaluated only if all hold. They see no namespace."""
    patch: str
    """CEL of the JSON patch. It sees `namespaceObject`."""
    namespaces: dict[str, Any]
    """Namespace selector."""
    fail: bool
    """Whether a request is refused if this cannot be evaluated. Else it continues unchanged."""

    @property
    def name(self) -> str:
        """Name of the policy and of its binding."""
        return PREFIX + self.what

    def policy(self) -> dict[str, Any]:
        """The MutatingAdmissionPolicy."""
        return _document(
            "MutatingAdmissionPolicy",
            self.name,
            {
                "failurePolicy": "Fail" if self.fail else "Ignore",
                # Again if the pod is changed after us: by then it may have a queue.
                "reinvocationPolicy": "IfNeeded",
                "matchConstraints": _constraints(RequestRule("pods", ("CREATE",))),
                "matchConditions": _named(self.conditions),
                "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": self.patch}}],
            },
        )

    def binding(self) -> dict[str, Any]:
        """The MutatingAdmissionPolicyBinding."""
        where = {"namespaceSelector": self.namespaces}
        spec = {"policyName": self.name, "matchResources": where}
        return _document("MutatingAdmissionPolicyBinding", self.name, spec)
