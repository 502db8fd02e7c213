"""What kube-scheduler is told of us: whole names, never to pass us by, and where we are."""

from typing import Any

import pytest
import yaml

from cardquota.install import managed_resources, scheduler_text
from cardquota.settings import Extender, Settings
from cardquota.vendor_row import VendorRow
from cardquota_dev.generate import EXTENDER

DEFAULTS = Settings.model_construct()


def scheduler_configuration(settings: Settings = DEFAULTS, **options: str) -> Any:
    return yaml.safe_load(scheduler_text(settings, **options))


def extender(settings: Settings = DEFAULTS, **options: str) -> dict[str, Any]:
    (found,) = scheduler_configuration(settings, **options)["extenders"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://10.0.0.7", "10.0.0.7"),
        ("https://10.0.0.7:9444", "10.0.0.7"),
        ("https://[fd00::7]:443", "fd00::7"),
    ],
)
def test_or_by_its_address(url: str, name: str) -> None:
    found = extender(Settings(extender=Extender(url=url)), credentials="/etc/kubernetes/x/")
    assert found["urlPrefix"] == f"{url}/scheduler"
    assert found["tlsConfig"]["serverName"] == name
    assert found["tlsConfig"]["caFile"] == "/etc/kubernetes/x/ca.crt"


def test_it_asks_about_whole_names_only() -> None:
    names = managed_resources(DEFAULTS)
    expected = {"aliyun.com/gpu-mem", "nvidia.com/gpu", "nvidia.com/gpu.shared", "huawei.com/npu"}
    assert expected | {"nvidia.com/mig-1g.18gb"} <= set(names)
    assert list(names) == sorted(set(names))
    assert all(DEFAULTS.vendor_table.owner(name) for name in names if "gpu-mem" not in name)
    managed = extender()["managedResources"]
    assert managed == [{"name": name, "ignoredByScheduler": False} for name in names]


def test_about_names_that_an_administrator_adds() -> None:
    row = VendorRow(name="Acme", prefix="acme.example", type="tpu")
    own = Extender(managed_resources=("cambricon.com/mlu999", "nvidia.com/gpu"))
    settings = Settings(vendors=(row,), extender=own)
    added = set(managed_resources(settings)) - set(managed_resources(DEFAULTS))
    assert added == {"acme.example/tpu", "acme.example/tpu.shared", "cambricon.com/mlu999"}


@pytest.mark.parametrize("name", ["gpu", "nvidia.com/mig-*", "nvidia.com/", "/x", "a b/c", "a/b/c"])
def test_but_names_they_must_be(name: str) -> None:
    with pytest.raises(ValueError, match="managedResources"):
        Settings.model_validate({"extender": {"managedResources": [name]}})


def test_of_the_second_scheduler_the_lease_is_its_own() -> None:
    assert "leaderElection" not in scheduler_configuration(DEFAULTS)
    second = scheduler_configuration(DEFAULTS, profile="cardquota-scheduler")
    names = {"resourceNamespace": "cardquota-system", "resourceName": "cardquota-scheduler"}
    assert second["leaderElection"] == {"leaderElect": True, **names}
    assert second["profiles"][0]["schedulerName"] == "cardquota-scheduler"


def test_a_kubeconfig_is_named_where_there_is_one() -> None:
    assert "clientConnection" not in scheduler_configuration(DEFAULTS)
    found = scheduler_configuration(DEFAULTS, kubeconfig="/etc/kubernetes/scheduler.conf")
    assert found["clientConnection"] == {"kubeconfig": "/etc/kubernetes/scheduler.conf"}


def test_one_document_with_nothing_before_it() -> None:
    """kube-scheduler says of what stands before a mark that it is empty."""
    text = scheduler_text(DEFAULTS)
    assert text.startswith("apiVersion: kubescheduler.config.k8s.io/v1\n")
    assert len(list(yaml.safe_load_all(text))) == 1


class TestComponent:
    """The Deployment of the second scheduler fits the configuration that it is given."""

    @pytest.fixture
    def deployment(self) -> dict[str, Any]:
        documents = yaml.safe_load_all((EXTENDER / "scheduler.yaml").read_text())
        return next(one for one in documents if one["kind"] == "Deployment")

    @pytest.fixture
    def container(self) -> dict[str, Any]:
        """Of the operator, as it is patched."""
        kustomization = yaml.safe_load((EXTENDER / "kustomization.yaml").read_text())
        (patch,) = (yaml.safe_load(p["patch"]) for p in kustomization["patches"] if "patch" in p)
        (found,) = patch["spec"]["template"]["spec"]["containers"]
        return dict(found)

    def test_it_has_the_files_that_are_named(self, deployment: dict[str, Any]) -> None:
        template = deployment["spec"]["template"]["spec"]
        (container,) = template["containers"]
        volumes = {one["name"]: one for one in template["volumes"]}
        mounted = {
            f"{mount['mountPath']}/{item['path']}": (source["secret"]["name"], item["key"])
            for mount in container["volumeMounts"]
            for source in volumes[mount["name"]].get("projected", {}).get("sources", ())
            for item in source["secret"]["items"]
        }
        tls, own = extender()["tlsConfig"], DEFAULTS.extender
        assert mounted == {
            tls["caFile"]: (own.secret, "ca.crt"),
            tls["certFile"]: (own.client_secret, "tls.crt"),
            tls["keyFile"]: (own.client_secret, "tls.key"),
        }

    def test_the_service_reaches_the_port(self, container: dict[str, Any]) -> None:
        service = yaml.safe_load((EXTENDER / "service.yaml").read_text())
        assert service["metadata"]["name"] == DEFAULTS.extender.service
        (port,) = service["spec"]["ports"]
        assert container["ports"] == [
            {"name": port["targetPort"], "containerPort": DEFAULTS.extender.port}
        ]

    def test_the_operator_serves(
        self, container: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for variable in container["env"]:
            if "value" in variable:
                monkeypatch.setenv(variable["name"], variable["value"])
        assert Settings().extender.enabled
