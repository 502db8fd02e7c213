"""The section `installation`: whether all is there, as the settings ask for it, and somebody leads.

The operator compares webhooks and policies too, and says the same of them; here it need not run.
Its rights are asked for one by one of the API server, for its account: that is the truth whichever
roles, bindings and authorizers say it, under whatever names.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from .... import __version__
from ....install.rights import in_words
from ....quota import vocabulary as v
from ....settings import Settings
from ... import sentences
from ...leader.lease import is_renewed
from ...object_answer import Answer, NotRead, inner
from ..bounded_section import bounded_section
from ..finding import Finding
from ..section import CheckSection
from .admission_findings import admission_findings
from .certificate_findings import certificate_findings, secrets_with_certificates
from .definition_findings import definition_findings
from .deployment_findings import deployment_findings
from .installation_fault import fault
from .installed import Installed, is_of_fence
from .lease_findings import NO_LEADER, lease_findings
from .predicate_cache import caches_errors

INSTALLATION: Final = "installation"
"""The name of the section."""


def installation_section(
    installed: Installed, settings: Settings, now: float, unknown: Sequence[str] = ()
) -> CheckSection:
    """`now`: seconds since 1970. It is complete without Secrets: whoever may read those has the
    operator's keys, which nobody needs for this.

    `unknown`: why `settings` may not be the operator's. Then nothing is advised by them: in audit
    mode the objects of the default settings would enforce.
    """
    findings = list(_findings(installed, settings, now, known=not unknown))
    not_read = [*unknown, *_not_read(installed)]
    notes = [*not_read, *_notes(installed, settings, now)]
    notes += (
        f"{one.why}: {sentences.CERTIFICATE_NOT_KNOWN}"
        for one in installed.certificates.values()
        if isinstance(one, NotRead)
    )
    return bounded_section(INSTALLATION, findings, notes, complete=not not_read)


def nobody_decides(section: CheckSection) -> bool:
    """Whether it has found that nobody leads."""
    return any(one.reason == NO_LEADER for one in section.findings)


def _findings(
    installed: Installed, settings: Settings, now: float, *, known: bool
) -> Iterator[Finding]:
    standalone = settings.scheduler == "standalone"
    yield from lease_findings(installed.leases, settings.namespace, now)
    definitions = {k: one for k, one in installed.definitions.items() if not is_of_fence(k)}
    yield from definition_findings(definitions, standalone=standalone)
    admission = [one for one in installed.admission if not is_of_fence(one[0]["metadata"]["name"])]
    yield from admission_findings(admission, settings, now, known=known)
    yield from _of_volcano(installed.volcano_scheduler, settings)
    for name, namespace in installed.volcano_namespaces.items():
        if namespace is None:
            why, advice = sentences.ACCOUNTS_OF_NOBODY, sentences.NAME_ACCOUNTS
            yield fault(("Namespace", "", name), "AccountsMissing", why, advice)
    missing = installed.missing_rights
    if missing and not isinstance(missing, NotRead):
        about = ("ServiceAccount", settings.namespace, settings.service_account)
        why = sentences.rights_missing(in_words(missing))
        yield fault(about, "RightsMissing", why, sentences.APPLY_RIGHTS)
    for secret in secrets_with_certificates(settings):
        certificate = installed.certificates.get(secret.name)
        if not isinstance(certificate, NotRead):
            yield from certificate_findings(certificate, secret, settings.namespace, now)
    if isinstance(installed.deployment, Mapping):
        yield from deployment_findings(installed.deployment, settings.namespace, __version__)
    elif installed.deployment is None and not _may_be_led(installed, now):
        about = ("Deployment", settings.namespace, v.DEPLOYMENT)
        why = sentences.deployment_missing(f"{settings.namespace}/{v.DEPLOYMENT}")
        yield fault(about, "DeploymentMissing", why, sentences.APPLY_BASE)


def _of_volcano(found: Answer, settings: Settings) -> Iterator[Finding]:
    """Whether Volcano's scheduler tries all pods of a task, though one fits nowhere (V7)."""
    if settings.scheduler != "volcano" or isinstance(found, NotRead):
        return
    namespace, _, name = settings.volcano.configuration.partition("/")
    about = ("ConfigMap", namespace, name)
    data = inner(found, "data") or {}
    texts = [text for text in data.values() if isinstance(text, str)]
    if found is None:
        yield fault(about, "ConfigurationMissing", sentences.NO_VOLCANO_MAP, sentences.NAME_THE_MAP)
    elif caches_errors(texts):
        why, advice = sentences.PREDICATE_CACHE, sentences.SET_PREDICATE_CACHE
        yield fault(about, "PredicateCacheOn", why, advice)


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
        yield sentences.the_same_for(first, len(others), kind)
    beside = (installed.volcano_scheduler, *installed.volcano_namespaces.values())
    for one in (installed.deployment, *beside):
        if isinstance(one, NotRead):
            yield one.why
    if isinstance(installed.missing_rights, NotRead):
        yield f"{installed.missing_rights.why}: {sentences.RIGHTS_NOT_KNOWN}"


def _may_be_led(installed: Installed, now: float) -> bool:
    """Whether somebody leads, or the Lease may not be read: then the operator may well run outside
    the cluster.
    """
    return isinstance(installed.leases[-1], NotRead) or is_renewed(installed.leases, now)


def _notes(installed: Installed, settings: Settings, now: float) -> Iterator[str]:
    if installed.deployment is None and _may_be_led(installed, now):
        leads = is_renewed(installed.leases, now)
        yield sentences.outside_the_cluster(settings.namespace, v.DEPLOYMENT, leads=leads)
    if installed.url:
        yield sentences.called_by_url(installed.url)
