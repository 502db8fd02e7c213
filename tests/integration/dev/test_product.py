"""The product on a plane: at work once the plane is ready, with no rights but its own."""

from cardquota_dev.testing import Cluster


def test_the_product_is_its_service_account(product_plane: Cluster) -> None:
    assert product_plane.folder is not None
    flag = f"--kubeconfig={product_plane.folder.product_kubeconfig}"
    who = product_plane.kubectl(flag, "auth", "whoami", "-o", "jsonpath={.status.userInfo}")
    assert '"system:serviceaccount:cardquota-system:cardquota"' in who.stdout
    assert "system:masters" not in who.stdout
    secrets = product_plane.kubectl(flag, "get", "secrets", "-n", "kube-system")
    assert "Forbidden" in secrets.stderr
