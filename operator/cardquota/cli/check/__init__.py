"""`cardquota check`: what an administrator should look at, found with the user's own rights."""

from .certificate_findings import (
    CertificateSecret,
    bundle_findings,
    certificate_findings,
    secrets_with_certificates,
)
from .check import show_sections
from .checked_cluster import CheckedCluster, read_cluster, wrong_keys
from .installation_section import nobody_decides, running_version
from .installed import DEFINITIONS, TERM_DEFINITION, Installed, read_installed
from .installed_settings import InstalledSettings, read_installed_settings
from .section import MOST_SHOWN, CheckSection, Finding, FindingKind, lines
from .usage_sections import PAUSE, Difference, differences, lasting_differences

__all__ = [
    "DEFINITIONS",
    "MOST_SHOWN",
    "PAUSE",
    "TERM_DEFINITION",
    "CertificateSecret",
    "CheckSection",
    "CheckedCluster",
    "Difference",
    "Finding",
    "FindingKind",
    "Installed",
    "InstalledSettings",
    "bundle_findings",
    "certificate_findings",
    "differences",
    "lasting_differences",
    "lines",
    "nobody_decides",
    "read_cluster",
    "read_installed",
    "read_installed_settings",
    "running_version",
    "secrets_with_certificates",
    "show_sections",
    "wrong_keys",
]
