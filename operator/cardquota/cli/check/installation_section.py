"""The sections `installation` and `fence`: whether all is there, as the settings ask for it, and
somebody leads; whether the API server trusts somebody as the operator, and until when; whether the
operator can know it (N1); and whether the API server compares decisions with the current term.
Pure.

The operator compares webhooks and policies too, and says the same of them; here it need not run.
Its rights are asked for one by one of the API server, for its account: that is the truth whichever
roles, bindings and authorizers say it, under whatever names.

Of the fence what is stored can be read: definition, policies, bindings, Term and Lease. What an API
server makes of it is not stored: the leader tries that, and writes what it finds on the Term.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ... import __version__
from ...cluster.certificates.ca_bundle import is_secret
from ...cluster.certificates.certificates import read_certificates
from ...control.queues.published_status import NAME, keeps_numbers
from ...install import kubernetes_versions
from ...install.comparison import differences
from ...install.pause import pause_said, resumed
from ...install.rights import in_words
from ...install.volcano_configuration import configurations, two_that_end_pods
from ...quota import vocabulary as v
from ...quota.messages import report_messages
from ...quota.words import counted, first_of, show
from ...settings import Settings
from ..installed_settings import operators_container
from ..leader import is_renewed, why_nobody_leads
from ..reading import Answer, NotRead, inner
from ..way_out import TERM_DEFINITION
from .installed import (
    CertificateSecret,
    Installed,
    decoded,
    is_of_fence,
    secrets_with_certificates,
)
from .section import INSTALLATION, CheckSection, Finding, FindingKind, bounded_section

_SOON: Final = timedelta(days=20)
"""Less is left than any rotation leaves: the operator's own replaces a certificate 30 days before
its end."""
_LONGEST_BUNDLE: Final = 1_048_576
"""Characters."""


def fault(about: tuple[str, str, str], reason: str, why: str, advice: str) -> Finding:
    """One thing that is wrong with the installation. `about`: kind, namespace and name."""
    return Finding(FindingKind.INSTALLATION, *about, reason, why, advice)


def bundle_findings(found: Mapping[str, Any], settings: Settings, now: float) -> Iterator[Finding]:
    """Of one webhook configuration as it is stored; the first webhook that is wrong stands for all.

    One without a CA is right where somebody else keeps the certificate: its CA may be one that the
    API server's machine trusts. `now`: seconds since 1970.
    """
    kind, name = str(inner(found, "kind") or ""), str(inner(found, "metadata", "name") or "")
    where = f"{kind} <{show(name)}>"
    own = settings.webhook.certificates == "own"
    webhooks = inner(found, "webhooks")
    for webhook in webhooks if isinstance(webhooks, list) else ():
        title = show(str(inner(webhook, "name") or ""))
        wrong = _wrong_bundle(where, title, webhook, now, own=own)
        if wrong is None and not _has_secret(webhook):
            why = f"the path of {title} in {where} has no secret of the operator, so the operator "
            advice = "the operator writes it within seconds: see in its log why it does not"
            yield fault((kind, "", name), "PathMissing", f"{why}answers no call", advice)
            return
        if wrong is not None:
            yield fault((kind, "", name), *wrong, _advice(own=own))
            return


def _has_secret(webhook: object) -> bool:
    at = ("clientConfig", "service", "path"), ("clientConfig", "url")
    return any(is_secret(str(inner(webhook, *one)).rpartition("/")[2]) for one in at)


def _advice(*, own: bool) -> str:
    if own:
        return "see in the operator's log why it is not renewed"
    return "see why it is not renewed by whatever writes the Secret, such as cert-manager"


def _wrong_bundle(
    where: str, title: str, webhook: object, now: float, *, own: bool
) -> tuple[str, str] | None:
    """The reason, in one word and as a sentence."""
    text = inner(webhook, "clientConfig", "caBundle")
    if not text:
        why = f"{where} has no CA for {title}, so the API server cannot call it"
        return ("CaBundleMissing", why) if own else None
    authorities = read_certificates(decoded(text, _LONGEST_BUNDLE))
    if not authorities:
        return "CaBundleUnreadable", f"the CA of {title} in {where} cannot be read"
    end = max(one.not_valid_after_utc for one in authorities)
    if end <= datetime.fromtimestamp(now, UTC):
        return "CaBundleOver", f"the CA of {title} in {where} ended on {end:%Y-%m-%d}"
    return None


def certificate_findings(
    certificate: bytes | None, secret: CertificateSecret, namespace: str, now: float
) -> Iterator[Finding]:
    """`certificate`: the one in the Secret, PEM; None: there is no Secret. At most one."""
    about = ("Secret", namespace, secret.name)
    where = f"Secret <{show(f'{namespace}/{secret.name}')}>"
    advice = _advice(own=secret.own)
    if certificate is None:
        why = f"there is no {where}, so there is no certificate to serve or to show"
        yield fault(about, "CertificateMissing", why, advice)
        return
    chain = read_certificates(certificate)
    if not chain:
        why = f"tls.crt of {where} cannot be read"
        yield fault(about, "CertificateUnreadable", why, advice)
        return
    end, today = chain[0].not_valid_after_utc, datetime.fromtimestamp(now, UTC)
    if end - today < _SOON:
        ends = "ended" if end <= today else "ends"
        why = f"the certificate in {where} {ends} on {end:%Y-%m-%d}"
        yield fault(about, "CertificateEnds", why, advice)


_NO_LEADER: Final = "NoLeader"
_SEE_THE_OPERATOR: Final = "see whether the operator's pods run, and what their log says"
_VERSION: Final = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})([.+-].{0,100})?")


def installation_section(
    installed: Installed, settings: Settings, now: float, unknown: Sequence[str] = ()
) -> CheckSection:
    """`now`: seconds since 1970. It is complete without Secrets: whoever may read those has the
    operator's keys, which nobody needs for this.

    `unknown`: why `settings` may not be the operator's. Then nothing is advised by them: in audit
    mode the objects of the default settings would enforce.
    """
    findings = list(_of_installation(installed, settings, now, known=not unknown))
    not_read = [*unknown, *_not_read(installed)]
    version = kubernetes_versions.read_version(installed.version)
    notes = [kubernetes_versions.in_words(version)] if version is not None else []
    notes += [*not_read, *_of_operator_outside(installed, settings, now)]
    notes += (
        f"{one.why}: it is not known when its certificate ends"
        for one in installed.certificates.values()
        if isinstance(one, NotRead)
    )
    return bounded_section(INSTALLATION, findings, notes, complete=not not_read)


def nobody_decides(section: CheckSection) -> bool:
    """Whether it has found that nobody leads."""
    return any(one.reason == _NO_LEADER for one in section.findings)


def _of_installation(
    installed: Installed, settings: Settings, now: float, *, known: bool
) -> Iterator[Finding]:
    namespace = settings.namespace
    version = kubernetes_versions.read_version(installed.version)
    if version is not None:
        for one in kubernetes_versions.unsupported(version, settings):
            yield fault(("Kubernetes", "", str(version)), *one)
    yield from lease_findings(installed.leases, namespace, now)
    definitions = {k: one for k, one in installed.definitions.items() if not is_of_fence(k)}
    yield from definition_findings(definitions, standalone=settings.scheduler == "standalone")
    yield from _of_admission(installed, settings, now, known=known, fence=False)
    yield from _of_volcano(installed, settings)
    missing = installed.missing_rights
    if missing and not isinstance(missing, NotRead):
        about = ("ServiceAccount", namespace, settings.service_account)
        rights = first_of([show(one, most=300) for one in in_words(missing)], "; ", most=12)
        advice = "apply the roles and bindings of manifests/ (rbac.yaml)"
        yield fault(about, "RightsMissing", f"the operator may not {rights}", advice)
    for secret in secrets_with_certificates(settings):
        certificate = installed.certificates.get(secret.name)
        if not isinstance(certificate, NotRead):
            yield from certificate_findings(certificate, secret, namespace, now)
    if isinstance(installed.deployment, Mapping):
        yield from deployment_findings(installed.deployment, namespace, __version__)
    elif installed.deployment is None and not _may_be_led(installed, now):
        about = ("Deployment", namespace, v.DEPLOYMENT)
        why = f"there is no Deployment <{show(f'{namespace}/{v.DEPLOYMENT}')}>"
        yield fault(about, "DeploymentMissing", why, "apply manifests/base")


def fence_section(
    installed: Installed, settings: Settings, now: float, *, known: bool = True
) -> CheckSection:
    """`now`: seconds since 1970. `known`: whether `settings` are the operator's. What may not be
    read of definitions and policies is said in the section `installation`.
    """
    notes = [one.why for one in (installed.term, installed.term_lease) if isinstance(one, NotRead)]
    findings = _of_fence(installed, settings, now, known=known)
    return bounded_section("fence", findings, notes[:1], complete=not notes)


def _of_fence(
    installed: Installed, settings: Settings, now: float, *, known: bool
) -> Iterator[Finding]:
    definition = installed.definitions.get(TERM_DEFINITION)
    yield from definition_findings({TERM_DEFINITION: definition}, standalone=True)
    yield from _of_admission(installed, settings, now, known=known, fence=True)
    term, where = installed.term, f"Term <{show(f'{settings.namespace}/{v.LEASE}')}>"
    about = (v.TERM_KIND, settings.namespace, v.LEASE)
    comes = "the leader writes it within seconds: if it stays so, see what its log says"
    if isinstance(term, NotRead) or definition is None:
        return
    if term is None:
        why = f"there is no {where}: no decision is compared with the current term"
        yield fault(about, "TermMissing", why, comes)
        return
    named, said = inner(term, "spec", "term"), inner(term, "status", "fault")
    holder = inner(installed.term_lease, "spec", "holderIdentity")
    if holder and named != holder:
        why = (
            f"{where} names {show(str(named))}, and the Lease is held by {show(str(holder))}, "
            "which decides nothing until it is named"
        )
        yield fault(about, "TermDiffers", why, comes)
    if said:
        yield fault(about, v.FENCE_FAULT, str(said), _SEE_THE_OPERATOR)


def lease_findings(leases: Sequence[Answer], namespace: str, now: float) -> Iterator[Finding]:
    """Whether somebody leads, by the Lease. At most one. What may not be read is none."""
    why, _ = why_nobody_leads(leases, namespace, now)
    if why:
        yield fault(("Lease", namespace, v.LEASE), _NO_LEADER, why, _SEE_THE_OPERATOR)


def definition_findings(
    definitions: Mapping[str, Answer], *, standalone: bool
) -> Iterator[Finding]:
    """`definitions`: by name. Beside Volcano those of Queues and PodGroups are its own; standalone
    ours must be there, which keep the numbers that the operator writes. Those of questions and of
    the Term are always ours: without them nobody can ask the operator, and it decides nothing.
    """
    for name, found in definitions.items():
        plural, _, group = name.partition(".")
        ours = group == v.REVIEW_GROUP
        version = v.REVIEW_VERSION if ours else v.VERSION
        advice = "apply crds/" if standalone else "apply the definitions of your Volcano"
        if plural == v.TERMS:
            advice = "apply crds/"
        elif ours:
            file = f"crds/{group}_{plural}.yaml"
            advice = f"apply {file}: `kubectl cardquota queue` and `explain` need it"
        about, what = ("CustomResourceDefinition", "", name), f"CustomResourceDefinition <{name}>"
        if isinstance(found, NotRead):
            continue
        if found is None:
            yield fault(about, "DefinitionMissing", f"{what} is missing", advice)
            continue
        versions = inner(found, "spec", "versions")
        versions = versions if isinstance(versions, list) else []
        served = [one for one in versions if inner(one, "name") == version]
        if not served or inner(served[0], "served") is not True:
            yield fault(about, "DefinitionNotServed", f"{what} does not serve {version}", advice)
        elif standalone and name == NAME and not keeps_numbers(inner(served[0], "schema")):
            why = (
                f"{what} does not keep the numbers that the operator writes into status.cards: it "
                "is Volcano's, or of an old version"
            )
            advice = "apply crds/, or write `scheduler: volcano` beside Volcano"
            yield fault(about, "DefinitionNotOurs", why, advice)


def _of_admission(
    installed: Installed, settings: Settings, now: float, *, known: bool, fence: bool
) -> Iterator[Finding]:
    """Which webhook configurations, policies and bindings are not as the settings ask for. What may
    not be read is none. `known`: whether `settings` are the operator's. If not, only what is
    missing is said.
    """
    for wanted, found in installed.admission:
        kind, name = str(wanted["kind"]), str(wanted["metadata"]["name"])
        if isinstance(found, NotRead) or is_of_fence(name) is not fence:
            continue
        differs = differences(wanted, found and resumed(found))
        if differs and (known or found is None):
            why = report_messages.installation_fault(kind, name, differs)
            advice = "apply the output of `cardquota manifests`"
            yield fault((kind, "", name), v.INSTALLATION_DIFFERS, why, advice)
        if found is not None and (said := pause_said(found)):
            why = f"paused since {show(said)}: it refuses and gates nothing"
            advice = "`cardquota resume --yes` ends that"
            yield fault((kind, "", name), "QuotaPaused", why, advice)
        if found is not None and "webhooks" in wanted:
            yield from bundle_findings({**found, "kind": kind}, settings, now)


def _of_volcano(installed: Installed, settings: Settings) -> Iterator[Finding]:
    """Whether Volcano's scheduler tries all pods of a task, though one fits nowhere (V7), and ends
    no pods for others beside us (L6); and whether the namespaces of its accounts exist.
    """
    found = installed.volcano_scheduler
    if settings.scheduler == "volcano" and not isinstance(found, NotRead):
        namespace, _, name = settings.volcano.configuration.partition("/")
        about = ("ConfigMap", namespace, name)
        if found is None:
            why = "the configuration of Volcano's scheduler is not there"
            advice = "name its ConfigMap in the setting volcano.configuration"
            yield fault(about, "ConfigurationMissing", why, advice)
        elif not any(one.tries_every_pod for one in configurations(found)):
            why = (
                "Volcano does not try the other pods of a Job's task once one of them fits no "
                "node, though they may go to nodes with another card"
            )
            advice = (
                "set predicateErrorCacheEnable: false for allocate, as in manifests/components/"
                "volcano/volcano-scheduler.conf"
            )
            yield fault(about, "PredicateCacheOn", why, advice)
        two = two_that_end_pods(found, settings)
        if two is not None:
            yield fault(about, "VolcanoEndsPods", *two)
    for name, there in installed.volcano_namespaces.items():
        if there is None:
            why = (
                "volcano.accounts names accounts in this namespace, and it does not exist: whoever "
                "may create it may say what pods are charged"
            )
            advice = (
                "name the accounts of your Volcano alone in volcano.accounts, and apply the output "
                "of `cardquota manifests`"
            )
            yield fault(("Namespace", "", name), "AccountsMissing", why, advice)


def deployment_findings(
    deployment: Mapping[str, Any], namespace: str, own_version: str
) -> Iterator[Finding]:
    """Whether the operator's replicas are ready, and of the command's version, `own_version`. Patch
    levels go together; a tag that is no version says nothing, as a digest or `latest`.
    """
    about = ("Deployment", namespace, v.DEPLOYMENT)
    where = f"Deployment <{show(f'{namespace}/{v.DEPLOYMENT}')}>"
    replicas = inner(deployment, "spec", "replicas")
    wanted = replicas if type(replicas) is int else 1
    there = inner(deployment, "status", "readyReplicas")
    ready = there if type(there) is int else 0
    if ready < wanted or not wanted:
        why = f"{where} has {ready} of {counted(wanted, 'replica')} ready"
        advice = "describe its pods, and read /readyz, to see why the others are not ready"
        yield fault(about, "ReplicasNotReady", why, advice)
    image = str(operators_container(deployment).get("image"))
    running = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    if _VERSION.fullmatch(running) and _level(running) != _level(own_version):
        why = f"{where} runs {show(running)}, this command is {own_version}"
        advice = "install the command of the operator's version, or upgrade the operator"
        yield fault(about, "VersionDiffers", why, advice)


def _level(version: str) -> tuple[str, str] | None:
    found = _VERSION.fullmatch(version)
    return (found[1], found[2]) if found is not None else None


def _not_read(installed: Installed) -> Iterator[str]:
    """What of it is missing, but for Secrets. One line for each kind: who may not read one object
    of a kind may most often read none.
    """
    answers = [
        *(("CustomResourceDefinition", one) for one in installed.definitions.values()),
        *((str(wanted["kind"]), found) for wanted, found in installed.admission),
        *(("Lease", one) for one in installed.leases),
    ]
    by_kind: dict[str, dict[str, None]] = {}
    for kind, one in answers:
        if isinstance(one, NotRead):
            by_kind.setdefault(kind, {})[one.why] = None
    for kind, (first, *others) in by_kind.items():
        same = f" (the same for {len(others)} more of kind {kind})"
        yield f"{first}{same if others else ''}"
    volcanos: Iterable[Answer] = installed.volcano_namespaces.values()
    for one in (installed.version, installed.deployment, installed.volcano_scheduler, *volcanos):
        if isinstance(one, NotRead):
            yield one.why
    if isinstance(installed.missing_rights, NotRead):
        why = installed.missing_rights.why
        yield f"{why}: it is not known whether the operator has its rights"


def _may_be_led(installed: Installed, now: float) -> bool:
    """Whether somebody leads, or the Lease may not be read: then the operator may well run outside
    the cluster.
    """
    return isinstance(installed.leases[-1], NotRead) or is_renewed(installed.leases, now)


def _of_operator_outside(installed: Installed, settings: Settings, now: float) -> Iterator[str]:
    if installed.deployment is None and _may_be_led(installed, now):
        where = f"Deployment <{show(settings.namespace)}/{show(v.DEPLOYMENT)}>"
        or_not = "" if is_renewed(installed.leases, now) else ", or not at all"
        yield (
            f"there is no {where}: the operator runs outside the cluster, or under another name"
            f"{or_not}; its version and number of replicas are not known"
        )
    if installed.url:
        yield (
            f"webhooks call the operator at {show(installed.url, most=200)}, not through a "
            "Service; to compare this address, name the operator's configuration with --config"
        )
