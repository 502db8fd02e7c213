"""All settings of the operator: one model, each with its unit and default.

Read once at start, from a file laid over the defaults, then from the environment
(`CARDQUOTA_LOG__LEVEL=debug`). Keys are camelCase, unknown keys are refused.
"""

import re
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from .quota.card_memory import MemoryUnit
from .quota.vendor import Shown, Vendor
from .quota.vendor_table import CollisionError, VendorTable
from .quota.vocabulary import OPERATOR_NAMESPACE, SERVICE_ACCOUNT

ANSWER_MARGIN: Final = 0.5
"""Seconds that we wait for the answer to a patch beyond the time-out given to the API server."""


_PART: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_LABEL_KEY: Final = re.compile(rf"({_PART.pattern}/)?{_PART.pattern}")
_PLAIN_EXPRESSION: Final = re.compile(r"([A-Za-z0-9_.|*+\[\])-]|\((?!\?)|\?)*")


_REPEATED_TWICE: Final = re.compile(r"[*+?][*+?]|\)[*+]")
"""What Python takes and RE2 does not, and what takes very long to match."""


class SettingsError(Exception):
    """The configuration cannot be used; the text names the key and what is wrong with it."""


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


Port = Annotated[int, Field(ge=1, le=65535)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class InstallationMode(StrEnum):
    """`enforce`: refuse and gate. `audit`: refuse and gate nothing, only say what would be."""

    ENFORCE = "enforce"
    AUDIT = "audit"


class GateSetter(StrEnum):
    """Who puts the gate on managed pods at create.

    `webhook`: the mutating webhook; while no replica answers, such pods are refused. `policy`: a
    MutatingAdmissionPolicy inside the API server (Kubernetes 1.36 or newer); while no replica
    answers, such pods are created and wait.
    """

    WEBHOOK = "webhook"
    POLICY = "policy"


class Webhook(_Section):
    """The admission server (HTTPS)."""

    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on."""
    port: Port = 9443
    """TCP port to listen on."""
    url: str | None = Field(default=None, pattern=r"^https://[^/?#]+$")
    """Where the API server reaches us, if not through the Service: scheme, host and port."""
    service: str = "cardquota-webhook"
    """Name of the Service in the operator's namespace."""
    secret: str = "cardquota-webhook"  # noqa: S105
    """Name of the Secret with CA and serving certificate, in the operator's namespace."""
    certificates: Literal["own", "secret"] = "own"
    """Who keeps that Secret. `own`: we make and rotate it. `secret`: cert-manager or a person does,
    and we never write it."""
    timeout_seconds: Annotated[int, Field(ge=1, le=30)] = 5
    """How long the API server waits for an answer, seconds."""
    name: str = "cardquota"
    """Name of the MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration."""
    unseen_wait: Annotated[float, Field(ge=0, le=2)] = 0.5
    """How long a review waits for pods it has just let by to show up, seconds."""
    gate: GateSetter = GateSetter.WEBHOOK
    """Who puts the gate on managed pods at create."""


class LeaderElection(_Section):
    """The Lease that says which replica decides."""

    duration: Seconds = 12.0
    """Seconds without renewal after which others may take over."""
    renew_deadline: Seconds = 8.0
    """Seconds after sending the last successful renewal at which the leader stops deciding."""
    retry_period: Seconds = 1.0
    """Seconds between tries to acquire or renew."""
    settle: Seconds = 3.0
    """Seconds a new leader waits, beyond the predecessor's renew deadline, before it decides."""
    identity: str = Field(default="", max_length=200)
    """First part of the term; empty: the host name."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.retry_period < self.renew_deadline < self.duration:
            raise ValueError("retryPeriod < renewDeadline < duration must hold")
        return self


class Metrics(_Section):
    """The plain HTTP server: `/metrics`, `/healthz`, `/readyz`."""

    host: str = "0.0.0.0"  # noqa: S104
    """Address to listen on."""
    port: Port = 8080
    """TCP port to listen on."""


class Log(_Section):
    """What the operator writes to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severity that is written."""
    format: Literal["auto", "text", "json"] = "auto"
    """`auto`: text on a terminal, JSON otherwise."""


class Release(_Section):
    """How gates are opened."""

    in_flight: Annotated[int, Field(ge=1, le=256)] = 32
    """Gates opened at the same time."""
    patch_timeout: Seconds = 2.0
    """Seconds after which a patch that opens a gate counts as lost and is settled."""


def _resource_part(text: str) -> str:
    if not text or "/" in text or not text.isprintable() or text != text.strip():
        raise ValueError("must be a part of a label key, such as nvidia.com or gpu")
    return text


def _label_key(text: str) -> str:
    if not _LABEL_KEY.fullmatch(text):
        raise ValueError("must be a label key, such as amd.com/gpu.product-name")
    return text


def _resource_name(text: str) -> str:
    prefix, slash, kind = text.partition("/")
    if not (slash and _PART.fullmatch(prefix) and _PART.fullmatch(kind)):
        raise ValueError("must be a resource name, such as amd.com/gpu")
    return text


def _types(text: str) -> str:
    """Also read by the API server, whose expressions (RE2) know less than Python's."""
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if not _PLAIN_EXPRESSION.fullmatch(text) or _REPEATED_TWICE.search(text):
        raise ValueError(
            "may hold letters, digits, hyphens, dots and [ ] ( ) | * + ? alone, no (?...), nothing "
            "repeated twice, and of a group no more than a ? behind it"
        )
    if any(text and re.fullmatch(text, kind) for kind in ("", "x.shared", "mig-1g.5gb")):
        raise ValueError("must match neither the empty text nor shares or slices of cards")
    return text


class VendorRow(_Section):
    """A maker's resource names and node labels; by the plain rule where nothing else is said."""

    name: str
    """For people."""
    prefix: Annotated[str, AfterValidator(_resource_part)]
    """The part before the slash: `nvidia.com`."""
    type: Annotated[str, AfterValidator(_resource_part)]
    """The part after the slash: `gpu`."""
    resources: tuple[Annotated[str, AfterValidator(_resource_name)], ...] = ()
    """More resource names of whole cards, beside `<prefix>/<type>`."""
    resource_types: Annotated[str, AfterValidator(_types)] = ""
    """The same as a regular expression for what follows `<prefix>/`: `mlu[0-9]+`."""
    product_labels: tuple[Annotated[str, AfterValidator(_label_key)], ...] = ()
    """Labels whose value is the card's name, what counts first coming first; after them, and where
    there are none, `<prefix>/<type>.product`, beside which `.memory` must be set."""
    memory_label: Annotated[str, AfterValidator(lambda x: x and _label_key(x))] = ""
    """Label with the memory of one card, for `productLabels`; empty: there is none."""
    memory_unit: MemoryUnit = MemoryUnit.MIB
    """`MiB`: a whole number of them. `written`: a number with its unit, `64G`."""

    def vendor(self) -> Vendor:
        """The row as the domain knows it."""
        return Vendor(
            self.name,
            self.prefix,
            self.type,
            self.resources,
            self.resource_types,
            tuple(Shown(key, self.memory_label, self.memory_unit) for key in self.product_labels),
            own_first=True,
        )

    @model_validator(mode="after")
    def _memory_of_what(self) -> Self:
        if self.memory_label and not self.product_labels:
            raise ValueError("memoryLabel goes with productLabels: say those too")
        return self


class Settings(BaseSettings):
    """The whole configuration."""

    model_config = SettingsConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        env_prefix="CARDQUOTA_",
        env_nested_delimiter="__",
    )

    mode: InstallationMode = InstallationMode.ENFORCE
    """Whether rules are enforced or only reported."""
    card_unlimited_cpu_memory: bool = False
    """Whether pods that ask for cards are free of the queue's cpu and memory limits (P6)."""
    default_queue: str = ""
    """Queue of card pods that name none; empty: they are let by and counted outside (section 2)."""
    require_queue: bool = False
    """Whether card pods without a queue are refused everywhere."""
    scheduler: Literal["standalone", "volcano"] = "standalone"
    """Who owns PodGroup phases and Queue state."""
    namespace: str = OPERATOR_NAMESPACE
    """The operator's own namespace: Lease, Secret, Service."""
    service_account: str = SERVICE_ACCOUNT
    """The operator's service account in that namespace."""
    exempt_namespaces: tuple[str, ...] = ("kube-system",)
    """Namespaces whose pods never reach us; the operator's own is always exempt."""
    vendors: tuple[VendorRow, ...] = ()
    """Rows added to the vendor table."""
    webhook: Webhook = Webhook()
    leader_election: LeaderElection = LeaderElection()
    release: Release = Release()
    metrics: Metrics = Metrics()
    log: Log = Log()

    @model_validator(mode="after")
    def _gates_can_open(self) -> Self:
        lease, needed = self.leader_election, self.release.patch_timeout + ANSWER_MARGIN
        if lease.renew_deadline - lease.retry_period <= needed:
            raise ValueError(
                "leaderElection.renewDeadline must exceed leaderElection.retryPeriod + "
                f"release.patchTimeout + {ANSWER_MARGIN:g}, or no gate could ever be opened in time"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment over file over defaults."""
        return env_settings, init_settings

    @model_validator(mode="after")
    def _no_row_twice(self) -> Self:
        names = [f"{row.prefix}/{row.type}" for row in self.vendors]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"vendors: two rows for {name}: write one")
        try:
            VendorTable(row.vendor() for row in self.vendors)
        except CollisionError as error:
            raise ValueError(f"vendors: {error}") from None
        return self

    @cached_property
    def vendor_table(self) -> VendorTable:
        """The configured rows, then the built-in ones that they do not replace."""
        return VendorTable(row.vendor() for row in self.vendors)

    @property
    def service_account_user(self) -> str:
        """The user name that the API server knows the operator by."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"

    @property
    def unwatched_namespaces(self) -> tuple[str, ...]:
        """Namespaces that admission leaves alone, our own among them; sorted."""
        return tuple(sorted({*self.exempt_namespaces, self.namespace}))


def load(path: Path | None) -> Settings:
    """The settings of a file laid over the defaults. Raises SettingsError."""
    try:
        stored = yaml.safe_load(path.read_text()) if path else None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from None
    if stored is not None and not isinstance(stored, dict):
        raise SettingsError(f"{path}: must hold a mapping of settings")
    values: dict[str, Any] = {str(key): value for key, value in (stored or {}).items()}
    try:
        return Settings(**values)
    except ValidationError as error:
        where = path or "environment"
        lines = (
            f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()
        )
        raise SettingsError(f"{where}: " + "; ".join(lines)) from None
