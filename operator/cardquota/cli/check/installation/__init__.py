"""Whether the product is installed rightly: what stands in the cluster beside what should.

In: the settings, and a client with the user's own rights. Out: the section `installation`.
"""

from .certificate_findings import CertificateSecret, bundle_findings, secrets_with_certificates
from .deployment_findings import running_version
from .installation_section import nobody_decides
from .installed import DEFINITIONS, TERM_DEFINITION, Installed, read_installed
from .installed_settings import InstalledSettings, read_installed_settings

__all__ = [
    "DEFINITIONS",
    "TERM_DEFINITION",
    "CertificateSecret",
    "Installed",
    "InstalledSettings",
    "bundle_findings",
    "nobody_decides",
    "read_installed",
    "read_installed_settings",
    "running_version",
    "secrets_with_certificates",
]
