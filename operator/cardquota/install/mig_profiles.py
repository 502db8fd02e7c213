"""The resource names of NVIDIA's MIG slices.

kube-scheduler compares whole names, so its configuration has to list them. A `+` of a profile is a
dot in the resource name.
"""

from typing import Final

# NVIDIA/mig-parted, deployments/systemd/config-default.yaml at 14007872, and for GB200
# deployments/container/nvidia-mig-manager-example-hopper-blackwell.yaml at 0d9252a4. B300 and
# GB300: NVIDIA's MIG User Guide, "Supported MIG Profiles".
_PROFILES: Final = (
    # A30
    *("1g.6gb", "1g.6gb.me", "2g.12gb", "2g.12gb.me", "4g.24gb"),
    # A100, A800 40GB
    *("1g.5gb", "1g.5gb.me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    # A100, A800, H100, H800 80GB
    *("1g.10gb", "1g.10gb.me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    # H100, H800 NVL 94GB
    *("1g.12gb", "1g.12gb.me", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"),
    # H100 96GB, GH200 96GB, H20
    *("1g.12gb", "1g.12gb.me", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"),
    # H200 141GB
    *("1g.18gb", "1g.18gb.me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
    # GH200 144GB
    *("1g.18gb", "1g.18gb.me", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"),
    # B200
    *("1g.23gb", "1g.23gb.me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"),
    # GB200
    *("1g.24gb", "1g.24gb.me", "1g.47gb", "2g.47gb", "3g.95gb", "4g.95gb", "7g.189gb"),
    # B300
    *("1g.34gb", "1g.34gb.me", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"),
    # GB300
    *("1g.35gb", "1g.35gb.me", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb"),
    # RTX PRO 6000 96GB
    *("1g.24gb", "1g.24gb.gfx", "1g.24gb.me", "1g.24gb.me.all", "1g.24gb-me"),
    *("2g.48gb", "2g.48gb.gfx", "2g.48gb.me.all", "2g.48gb-me", "4g.96gb", "4g.96gb.gfx"),
)
MIG_RESOURCES: Final = tuple(sorted({f"nvidia.com/mig-{profile}" for profile in _PROFILES}))
"""Each once. A profile that is missing here is added by `extender.managedResources`."""
