"""The product on a plane: at work once the plane is ready, with no rights but its own."""

import json

import pytest

from cardquota_dev.testing import Cluster
from integration.plugin import plugin


@pytest.mark.slow
def test_check_compares_with_the_settings_of_the_plane(product_plane: Cluster) -> None:
    """Those are on no command line: webhooks are called by a URL, as the ConfigMap says."""
    done = plugin(product_plane.kubeconfig, "check", "-o", "json")
    (section,) = (
        one for one in json.loads(done.stdout)["sections"] if one["section"] == "installation"
    )
    assert section["findings"] == []
    assert ["no Deployment" in note for note in section["notes"]] == [True]


def test_the_product_is_its_service_account(product_plane: Cluster) -> None:
    assert product_plane.folder is not None
    flag = f"--kubeconfig={product_plane.folder.product_kubeconfig}"
    who = product_plane.kubectl(flag, "auth", "whoami", "-o", "jsonpath={.status.userInfo}")
    assert '"system:serviceaccount:cardquota-system:cardquota"' in who.stdout
    assert "system:masters" not in who.stdout
    secrets = product_plane.kubectl(flag, "get", "secrets", "-n", "kube-system")
    assert "Forbidden" in secrets.stderr
