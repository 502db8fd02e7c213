from pathlib import Path

import pytest

from cardquota_dev.failure import PlaneError
from cardquota_dev.plane import discovery
from cardquota_dev.plane.discovery import binary


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch(mode=0o755)
    return folder


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "KUBEBUILDER", tmp_path / "usr-local")
    monkeypatch.setattr(discovery, "built", lambda _: tmp_path / "cache")


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


def test_a_named_version_is_not_replaced_by_another(tmp_path: Path) -> None:
    put(tmp_path / "usr-local", "kube-apiserver")
    with pytest.raises(PlaneError, match="not built"):
        binary("kube-apiserver", env={"KUBERNETES": "1.33"})
    cache = put(tmp_path / "cache", "kube-apiserver")
    assert binary("kube-apiserver", env={"KUBERNETES": "1.33"}) == cache / "kube-apiserver"


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
