"""All settings of the operator: one model, each with its unit and default.

Read once at start: defaults, overridden by a file, then by the environment
(`CARDQUOTA_LOG__LEVEL=debug`). Keys are camelCase, unknown keys are refused.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal, Self

import pydantic_settings
import yaml
from pydantic import Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from .quota.cards.vendor_table import VendorTable
from .quota.vocabulary import OPERATOR_NAMESPACE, SERVICE_ACCOUNT, Policy
from .reclaim_settings import Preempt, Reclaim, ReclaimSection, reclaim_section
from .section import Seconds, Section
from .setting_problem import setting_problem
from .vendor_row import VendorRow

ANSWER_MARGIN: Final = 0.5
"""Seconds that the operator waits for the answer to a patch beyond the API server's time-out."""


ENVIRONMENT_PREFIX: Final = "CARDQUOTA_"
"""Of the environment's variables that are settings."""
LONGEST_STARVATION_WAIT: Final = 31_536_000
"""Seconds: a year."""


class SettingsError(Exception):
    """The configuration cannot be used; the text names the key and what is wrong with it."""


Port = Annotated[int, Field(ge=1, le=65535)]
ObjectName = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]


class InstallationMode(StrEnum):
    """`enforce`: refuse and gate. `audit`: only report what would be refused and gated."""

    ENFORCE = "enforce"
    AUDIT = "audit"


class CoveredNamespaces(StrEnum):
    """`all`: all but those labelled `off`. `labelled`: only those whose label
    `volcano.sh/card-quota` says `enforced` or `audit`; pods elsewhere cost the API server nothing.
    """

    ALL = "all"
    LABELLED = "labelled"


class GateSetter(StrEnum):
    """Who puts the gate on managed pods at create.

    `webhook`: the mutating webhook; while no replica answers, such pods are refused. `policy`: a
    MutatingAdmissionPolicy inside the API server (see versions.md); while no replica answers, such
    pods are created and wait.
    """

    WEBHOOK = "webhook"
    POLICY = "policy"


class Webhook(Section):
    """The admission server (HTTPS)."""

    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on."""
    port: Port = 9443
    """TCP port to listen on."""
    url: str | None = Field(default=None, pattern=r"^https://[^/?#]+$")
    """URL at which the API server reaches the operator, if not through its Service: scheme, host
    and port."""
    service: str = "cardquota-webhook"
    """Name of the Service in the operator's namespace."""
    secret: str = "cardquota-webhook"  # noqa: S105
    """Name of the Secret with CA and serving certificate, in the operator's namespace."""
    certificates: Literal["own", "secret"] = "own"
    """Who writes that Secret. `own`: the operator creates and rotates it. `secret`: cert-manager or
    a person does, and the operator never writes it."""
    timeout_seconds: Annotated[int, Field(ge=1, le=30)] = 5
    """How long the API server waits for an answer, seconds."""
    name: str = "cardquota"
    """Name of the MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration."""
    gate: GateSetter = GateSetter.WEBHOOK
    """Who puts the gate on managed pods at create."""


class LeaderElection(Section):
    """The Lease that says which replica decides."""

    duration: Seconds = 12.0
    """Seconds without renewal after which another replica may take over."""
    renew_deadline: Seconds = 8.0
    """Seconds after sending the last successful renewal at which the leader stops deciding."""
    retry_period: Seconds = 1.0
    """Seconds between tries to acquire or renew."""
    settle: Seconds = 3.0
    """Seconds a new leader waits, beyond the predecessor's renew deadline, before it decides."""
    identity: str = Field(default="", max_length=200)
    """First part of the term, which is the holder's name in the Lease. Empty: the host name."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.retry_period < self.renew_deadline < self.duration:
            raise ValueError(
                f"retryPeriod <{self.retry_period:g}> must be less than renewDeadline "
                f"<{self.renew_deadline:g}>, and that less than duration <{self.duration:g}>"
            )
        return self


class MetricsServer(Section):
    """The plain HTTP server: `/metrics`, `/healthz`, `/readyz`."""

    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on."""
    port: Port = 8080
    """TCP port to listen on."""
    authentication: bool = False
    """Whether `/metrics` is only for those whom the API server allows `get` on that URL. They send
    a bearer token. The component `metrics-authentication` sets it, and gives the operator the right
    to ask."""


class WebPage(Section):
    """The read-only page that the operator serves, with a bearer token (F7)."""

    enabled: bool = False
    """Whether `/page/` is served on the port of the metrics. The component `page` sets it, and
    gives the operator the right to ask whose a token is. `kubectl cardquota page` opens it."""


class ProbesServer(Section):
    """The plain HTTP server for the kubelet: `/healthz`, `/readyz`."""

    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on."""
    port: Port | None = None
    """TCP port to listen on; the base sets 8081. None: only the port of the metrics answers
    probes."""


class Log(Section):
    """What the operator writes to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severity that is written."""
    format: Literal["auto", "text", "json"] = "auto"
    """`auto`: text on a terminal, JSON otherwise."""


class Packing(StrEnum):
    """Which node and which card a pod gets of those that fit.

    `binpack`: the fullest, so that others stay whole. `spread`: the emptiest.
    """

    BINPACK = "binpack"
    SPREAD = "spread"


ManagedResource = Annotated[
    str,
    Field(
        max_length=317,
        pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$",
    ),
]
"""The whole name of an extended resource, `<domain>/<name>`."""


class Extender(Section):
    """The scheduler extender (HTTPS): which node and which card a pod gets."""

    enabled: bool = False
    """Whether it listens, and the operator binds the pods that use cards. It also needs a
    kube-scheduler whose configuration names it."""
    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on."""
    port: Port = 9444
    """TCP port to listen on."""
    url: str | None = Field(default=None, pattern=r"^https://[^/?#]+$")
    """URL at which kube-scheduler reaches the operator: scheme, host and port. None: the Service. A
    scheduler on the host network has no cluster DNS: give it the Service's address."""
    service: str = "cardquota-extender"
    """Name of the Service in the operator's namespace."""
    secret: str = "cardquota-extender"  # noqa: S105
    """Name of the Secret with CA and serving certificate, in the operator's namespace."""
    client_secret: str = "cardquota-extender-client"  # noqa: S105
    """Name of the Secret with the client certificate of callers, and the CA that signed it."""
    client_name: str = Field(default="", max_length=253)
    """Name (CN or SAN) that a caller's certificate must have. Empty: `clientSecret`, as in those
    that the operator makes."""
    certificates: Literal["own", "secret"] = "own"
    """Who writes both Secrets. `own`: the operator creates and rotates them. `secret`: cert-manager
    or a person does, and the operator never writes them."""
    advertise: str = Field(default="", pattern=r"^([^/?#]+:[0-9]+)?$")
    """Host and port at which other replicas reach this one: a replica that gets a bind passes it to
    the leader. Empty: `POD_IP` of the environment, or else `host`; and `port`."""
    timeout_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    """How long kube-scheduler waits for an answer, seconds."""
    weight: Annotated[int, Field(ge=1, le=1000)] = 10
    """Weight of the extender's scores, relative to those of kube-scheduler's own plugins."""
    packing: Packing = Packing.BINPACK
    """Which node and which card a pod gets of those that fit."""
    scheduler_name: str = "cardquota-scheduler"
    """Name of the profile of the second kube-scheduler, for clusters whose own cannot be
    configured."""
    memory_needs_quota: bool = True
    """Whether a pod gets card memory only in a queue whose quota has a row for it (B9). Without, it
    is limited only while some quota has one."""
    managed_resources: tuple[ManagedResource, ...] = ()
    """More resource names of cards for the configuration of kube-scheduler, beside those of the
    vendor table and of known MIG slices. kube-scheduler compares whole names."""


class Release(Section):
    """How gates are opened."""

    in_flight: Annotated[int, Field(ge=1, le=256)] = 32
    """Gates that are opened, or tried by dry run, at the same time. While others wait, all gangs
    together take at most half of them. All namespaces whose gates do not open together never take
    more than a quarter."""
    patch_timeout: Seconds = 2.0
    """Seconds without an answer after which the result of opening a gate counts as unknown, and
    the operator finds it out."""
    starvation_wait: Annotated[
        float, Field(ge=0, le=LONGEST_STARVATION_WAIT, allow_inf_nan=False)
    ] = 600.0
    """Seconds after the creation of a pod, gang or group that lacks room. From then on, who comes
    after it and wants one of its cards waits until it starts (E6). 0: nobody does."""
    group_priority_classes: tuple[str, ...] = ()
    """Names of the PriorityClasses that count for PodGroups without pods (E6). Empty: all but those
    that begin with `system-`."""


class Events(Section):
    """When events are written again (I4)."""

    renew_after: Seconds = 1_800.0
    """Seconds after which the event of the head of a queue is written again, with the numbers of
    then. Keep it well below the API server's `--event-ttl` (an hour)."""


OwnerKind = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]{0,62}$")]
"""Kind of a controller of pods, of any API group."""
UserName = Annotated[str, Field(min_length=1, max_length=600)]
"""Of a user at the API server. A service account's has its two names, of 63 and 253 characters."""


class Scaling(Section):
    """Who gets which answer when a workload is scaled up."""

    autoscalers: Annotated[tuple[UserName, ...], Field(max_length=100)] = (
        "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
        "system:kube-controller-manager",
    )
    """User names of autoscalers. They are granted the part that fits. All other users are refused
    if not all fits. Add KEDA where it runs (`system:serviceaccount:keda:keda-operator`). Name an
    account only where its namespace exists: else whoever creates that namespace is an autoscaler
    (`check` says so)."""


class Enqueue(Section):
    """The server that Volcano's scheduler asks which pod groups to enqueue (HTTPS, V3)."""

    enabled: bool = True
    """Whether it listens, beside Volcano. It also needs Volcano's configuration to name it."""
    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on. It uses the certificate of the webhook."""
    port: Port = 9445
    """TCP port to listen on."""
    plain_port: Port | None = None
    """TCP port of 127.0.0.1 for the same without TLS, for a scheduler on the same host network.
    None: no such port."""
    path_secret: str = Field(default="", pattern=r"^([A-Za-z0-9_-]{32,128})?$", repr=False)
    """Secret in the path that Volcano calls, `/volcano/SECRET/jobEnqueueable` (N3). Empty: whoever
    reaches the port is answered."""
    advertise: str = Field(default="", pattern=r"^([^/?#]+:[0-9]+)?$")
    """Host and port at which other replicas reach this one: a replica that is asked passes the
    question to the leader. Empty: `POD_IP` of the environment, or else `host`; and `port`."""


class Volcano(Section):
    """Volcano, if it runs beside the operator."""

    accounts: Annotated[tuple[UserName, ...], Field(max_length=100)] = (
        "system:serviceaccount:volcano-system:volcano-scheduler",
        "system:serviceaccount:volcano-system:volcano-controllers",
        "system:serviceaccount:kube-system:volcano-scheduler",
        "system:serviceaccount:kube-system:volcano-controllers",
    )
    """User names of Volcano's scheduler, which repeats a pod's annotations when it binds the pod,
    and of its controllers, which give a group to an existing pod. No other user may do either.
    Without effect unless `scheduler` is `volcano`. Their namespaces must exist: `check` says so."""
    enqueue: Enqueue = Enqueue()
    configuration: str = Field(
        default="volcano-system/volcano-scheduler-configmap", pattern=r"^[^/]{1,63}/[^/]{1,253}$"
    )
    """Namespace and name of the ConfigMap with the configuration of its scheduler, which `check`
    reads (V7), and at its start an operator that ends pods for others (L6)."""


class _Environment(EnvSettingsSource):
    """Variables of the own process, over `others`. Names are those of the file: of two names of
    one setting the file's would win.
    """

    def __init__(self, settings_cls: type[BaseSettings], others: Mapping[str, str | None]) -> None:
        super().__init__(settings_cls)
        every = {**{name.lower(): value for name, value in others.items()}, **self.env_vars}
        # A field that has an alias is read under it as well, without the prefix: a `MODE` that
        # somebody else's program needs is nothing to us.
        prefix = ENVIRONMENT_PREFIX.lower()
        self.env_vars = {name: value for name, value in every.items() if name.startswith(prefix)}

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Also of the section that may be one word."""
        if field_name != "reclaim":
            return super().decode_complex_value(field_name, field, value)
        try:
            return reclaim_section(super().decode_complex_value(field_name, field, value))
        except ValueError:  # no JSON
            return reclaim_section(value)

    def __call__(self) -> dict[str, Any]:
        return _in_camel_case(super().__call__())


def _in_camel_case(values: dict[str, Any]) -> dict[str, Any]:
    """Names of variables; what a variable has as JSON may have other keys, as kinds of objects."""
    return {
        to_camel(key) if "_" in key else key: _in_camel_case(value)
        if isinstance(value, dict)
        else value
        for key, value in values.items()
    }


class Settings(BaseSettings):
    """The whole configuration."""

    model_config = SettingsConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter="__",
    )

    deployed_environment: ClassVar[Mapping[str, str | None]] = MappingProxyType({})
    """Variables of the Deployment whose settings a command reads. Our own override them."""
    mode: InstallationMode = InstallationMode.ENFORCE
    """Whether rules are enforced or only reported."""
    namespaces: CoveredNamespaces = CoveredNamespaces.ALL
    """Which namespaces have quotas (section 2)."""
    card_unlimited_cpu_memory: bool = False
    """Whether pods that ask for cards ignore the queue's cpu and memory limits (P6)."""
    default_queue: str = ""
    """Queue of pods that use cards and name none, beside Volcano too. Empty: they are admitted, and
    counted outside all queues (section 2)."""
    require_queue: bool = False
    """Whether pods that use cards and have no queue are refused in every covered namespace."""
    require_namespaces: bool = False
    """Whether a queue without `card.namespaces` is open to no namespace. Without, to all."""
    scheduler: Literal["standalone", "volcano"] = "standalone"
    """Who writes the phases of PodGroups and the state of Queues: cardquota (`standalone`), or
    Volcano."""
    namespace: str = OPERATOR_NAMESPACE
    """The operator's own namespace: Lease, Secret, Service."""
    service_account: str = SERVICE_ACCOUNT
    """The operator's service account in that namespace."""
    exempt_namespaces: tuple[str, ...] = ("kube-system",)
    """Namespaces that the webhooks do not see, so that no quota is enforced there. Pods that use
    cards are counted all the same. The operator's own is always exempt."""
    vendors: tuple[VendorRow, ...] = ()
    """Makers of cards, in addition to the built-in ones (D6)."""
    device_classes_without_cards: Annotated[tuple[ObjectName, ...], Field(max_length=100)] = (
        "compute-domain-default-channel.nvidia.com",
        "compute-domain-daemon.nvidia.com",
    )
    """Names of DeviceClasses whose devices are no cards: in namespaces labelled `enforced`, where
    all other claims are refused, claims of them are let by (P7)."""
    policy_by_owner: Annotated[dict[OwnerKind, Policy], Field(max_length=100)] = {}
    """By kind of a pod's controller, whether its pods wait (`Gate`) or are refused (`Deny`) if they
    do not fit now and their queue has no `card.policy`. Kinds that it leaves out keep their default
    (section 2)."""
    webhook: Webhook = Webhook()
    leader_election: LeaderElection = LeaderElection()
    reservation_timeout: Seconds = 300.0
    """Seconds after which a gang that does not run loses what is reserved for it (E8)."""
    release: Release = Release()
    reclaim: ReclaimSection = Reclaim()
    preempt: Preempt = Preempt()
    events: Events = Events()
    scale: Scaling = Scaling()
    volcano: Volcano = Volcano()
    extender: Extender = Extender()
    metrics: MetricsServer = MetricsServer()
    page: WebPage = WebPage()
    probes: ProbesServer = ProbesServer()
    log: Log = Log()

    @model_validator(mode="after")
    def _gates_can_open(self) -> Self:
        lease, needed = self.leader_election, self.release.patch_timeout + ANSWER_MARGIN
        if lease.renew_deadline - lease.retry_period <= needed:
            least = lease.retry_period + needed
            raise ValueError(
                f"leaderElection.renewDeadline <{lease.renew_deadline:g}> must exceed "
                f"leaderElection.retryPeriod + release.patchTimeout + {ANSWER_MARGIN:g} "
                f"<{least:g}>, or no gate could ever be opened in time"
            )
        return self

    @property
    def volcano_accounts(self) -> tuple[str, ...]:
        """Who may do what Volcano does; nobody where it does not schedule, since a tenant may be
        able to make the namespace of these accounts there.
        """
        return self.volcano.accounts if self.scheduler == "volcano" else ()

    @property
    def enqueues_for_volcano(self) -> bool:
        """Whether Volcano's scheduler may ask us which pod groups to enqueue."""
        return self.scheduler == "volcano" and self.volcano.enqueue.enabled

    @property
    def hazards(self) -> tuple[str, ...]:
        """Settings that are allowed but not advised, to be logged at start.

        A patch may be sent just before the renew deadline, and then has its time-out. With a
        shorter settle time only the fence in the API server keeps it from landing too late.
        """
        found = []
        if self.enqueues_for_volcano and not self.volcano.enqueue.path_secret:
            found.append(
                "volcano.enqueue.pathSecret is empty: whoever reaches the port may ask in "
                "Volcano's name for a place in the order, or for a reservation"
            )
        least = self.release.patch_timeout + ANSWER_MARGIN
        if self.leader_election.settle < least:
            found.append(
                f"leaderElection.settle <{self.leader_election.settle:g}> should be at least "
                f"release.patchTimeout + {ANSWER_MARGIN:g} <{least:g}>: the last write of one "
                "leader may still be on its way when the next leader decides, and then only the "
                "admission policies keep it out"
            )
        return tuple(found)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment overrides the file, which overrides the defaults."""
        return _Environment(settings_cls, cls.deployed_environment), init_settings

    @model_validator(mode="after")
    def _no_row_twice(self) -> Self:
        names = [f"{row.prefix}/{row.type}" for row in self.vendors]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"vendors: two rows for {name}: keep one")
        return self

    @property
    def memory_by_row(self) -> bool:
        """Whether only queues with a row for card memory may have some (B9)."""
        return self.extender.enabled and self.extender.memory_needs_quota

    @cached_property
    def vendor_table(self) -> VendorTable:
        """The configured rows, then the built-in ones that they do not replace."""
        return VendorTable(row.vendor() for row in self.vendors)

    @property
    def service_account_user(self) -> str:
        """The operator's user name at the API server."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"

    @property
    def unwatched_namespaces(self) -> tuple[str, ...]:
        """Namespaces that admission ignores, including our own; sorted."""
        return tuple(sorted({*self.exempt_namespaces, self.namespace}))


def load(path: Path | None) -> Settings:
    """The settings of a file over the defaults. Raises SettingsError."""
    try:
        stored = yaml.safe_load(path.read_text()) if path else None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: cannot be read: it is not UTF-8 text") from None
    except yaml.YAMLError as error:
        raise SettingsError(f"{path}: is not YAML: {_where(error)}") from None
    if stored is not None and not isinstance(stored, dict):
        raise SettingsError(f"{path}: must hold a mapping of settings")
    return _validated(Settings, stored or {}, str(path or "environment"))


def settings_from(values: object, where: str, environment: Mapping[str, str | None]) -> Settings:
    """The settings of another process: the content of its file, and its environment, which the own
    one overrides. `where`: of the content, for messages. Raises SettingsError.
    """
    if not isinstance(values, Mapping):
        raise SettingsError(f"{where}: must hold a mapping of settings")

    class Deployed(Settings):
        deployed_environment: ClassVar[Mapping[str, str | None]] = environment

    return _validated(Deployed, values, where)


def _validated(model: type[Settings], stored: Mapping[Any, Any], where: str) -> Settings:
    values: dict[str, Any] = {str(key): value for key, value in stored.items()}
    if "reclaim" in values:
        values["reclaim"] = reclaim_section(values["reclaim"])
    try:
        return model(**values)
    except pydantic_settings.SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None
    except ValidationError as error:
        problems = map(setting_problem, error.errors())
        raise SettingsError(f"{where}: " + "; ".join(problems)) from None


def _where(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem} (line {error.problem_mark.line + 1})"
    return " ".join(str(error).split())
