from pathlib import Path

import pytest

from cardquota_dev.build.versions import PACKAGES
from cardquota_dev.failure import PlaneError
from cardquota_dev.plane import discovery
from cardquota_dev.plane.discovery import binaries, binary, existing_cluster


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch(mode=0o755)
    return folder


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "KUBEBUILDER", tmp_path / "usr-local")
    monkeypatch.setattr(discovery, "built", lambda: tmp_path / "cache")


def test_the_order_of_places(tmp_path: Path) -> None:
    last = put(tmp_path / "usr-local", "etcd")
    assert binary("etcd", env={}) == last / "etcd"
    cache = put(tmp_path / "cache", "etcd")
    assert binary("etcd", env={}) == cache / "etcd"
    env = {"KUBEBUILDER_ASSETS": str(put(tmp_path / "assets", "etcd"))}
    assert binary("etcd", env=env) == tmp_path / "assets" / "etcd"
    env["TEST_ASSET_ETCD"] = str(put(tmp_path / "one", "etcd") / "etcd")
    assert binary("etcd", env=env) == tmp_path / "one" / "etcd"
    chosen = put(tmp_path / "chosen", "etcd")
    assert binary("etcd", folder=chosen, env=env) == chosen / "etcd"


def test_a_variable_names_a_binary_with_dashes(tmp_path: Path) -> None:
    path = put(tmp_path / "one", "api") / "api"
    assert binary("kube-apiserver", env={"TEST_ASSET_KUBE_APISERVER": str(path)}) == path


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"TEST_ASSET_ETCD": "/nowhere/etcd"}, "TEST_ASSET_ETCD"),
        ({"KUBEBUILDER_ASSETS": "/nowhere"}, "KUBEBUILDER_ASSETS"),
    ],
)
def test_what_is_named_must_be_there(tmp_path: Path, env: dict[str, str], named: str) -> None:
    put(tmp_path / "cache", "etcd")
    with pytest.raises(PlaneError, match=named):
        binary("etcd", env=env)
    with pytest.raises(PlaneError, match="--bin-dir"):
        binary("etcd", folder=tmp_path / "nowhere", env={})


def test_the_assets_of_envtest_lack_what_envtest_does_not_have(tmp_path: Path) -> None:
    env = {"KUBEBUILDER_ASSETS": str(put(tmp_path / "assets", "etcd"))}
    cache = put(tmp_path / "cache", "kwok")
    assert binary("kwok", env=env) == cache / "kwok"


def test_a_file_that_cannot_be_run_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "cache", "etcd")
    (tmp_path / "cache" / "etcd").chmod(0o644)
    last = put(tmp_path / "usr-local", "etcd")
    assert binary("etcd", env={}) == last / "etcd"


def test_nothing_there_says_what_to_do() -> None:
    with pytest.raises(PlaneError, match="cardquota_dev build"):
        binary("kwok", env={})


def test_all_of_them(tmp_path: Path) -> None:
    cache = put(tmp_path / "cache", *PACKAGES)
    assert binaries(env={}) == {name: cache / name for name in PACKAGES}


@pytest.mark.parametrize("value", ["true", "1", "True"])
def test_an_existing_cluster_is_asked_for(value: str) -> None:
    env = {"USE_EXISTING_CLUSTER": value, "KUBECONFIG": "/k"}
    assert existing_cluster(env) == Path("/k")


@pytest.mark.parametrize("value", ["", "false", "0"])
def test_an_existing_cluster_is_not_asked_for(value: str) -> None:
    assert existing_cluster({"USE_EXISTING_CLUSTER": value, "KUBECONFIG": "/k"}) is None


def test_an_existing_cluster_needs_a_kubeconfig() -> None:
    with pytest.raises(PlaneError, match="KUBECONFIG"):
        existing_cluster({"USE_EXISTING_CLUSTER": "true"})
