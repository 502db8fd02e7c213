"""`check` on a real API server: nothing to say of a healthy cluster, and each thing that breaks."""

import json
from pathlib import Path

import pytest
import yaml

from builders import GPU, a_node
from cardquota_dev.build.versions import chosen
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually, fresh_namespace
from integration.asking import MERGE, Object, ask
from integration.own_node import a_node_of
from integration.plugin import plugin
from integration.scaling.leaving_pods import start
from integration.team import Team

from .running import QUICK, OperatorProcess, install_base, running

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]

BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
ROLE_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
ROLE_REFERENCE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}


def check(kubeconfig: Path, *options: str) -> tuple[int, dict[str, Object]]:
    """Its exit code, and the sections by name."""
    done = plugin(kubeconfig, "check", "-o", "json", *options)
    assert done.stderr == ""
    return done.returncode, {one["section"]: one for one in json.loads(done.stdout)["sections"]}


def found(sections: dict[str, Object]) -> set[tuple[str, str, str]]:
    """Section, reason and name of everything that was found."""
    return {
        (name, one["reason"], one["name"])
        for name, section in sections.items()
        for one in section["findings"]
    }


def test_a_healthy_cluster_and_what_is_found_when_it_breaks(
    bare: Cluster, tmp_path: Path, unique: str
) -> None:
    install_base(bare)
    with fresh_namespace(bare, unique) as namespace:
        team, card = Team(bare, namespace, unique), f"{unique}-card"
        with (
            a_node_of(team, a_node(f"{unique}-node").with_cards(card, "4")),
            running(bare, tmp_path / "operator", QUICK) as operator,
        ):
            queue = team.has_queue({card: 2})
            team.until_row(card, quota=2, resource=GPU)
            start(team, team.a_pod("a", 2, card), stops_in=0)
            team.until_row(card, allocated=2)
            nothing_is_found(bare, operator)
            the_documented_rights_suffice(team, tmp_path, operator)
            everything_is_found(team, operator, queue, card)


def nothing_is_found(bare: Cluster, operator: OperatorProcess) -> None:
    code, sections = check(bare.kubeconfig, f"--config={operator.config}")
    assert (found(sections), code) == (set(), 0)
    assert all(section["complete"] for section in sections.values())
    version, operator_outside = sections["installation"]["notes"]
    assert version.startswith(f"Kubernetes {chosen()} is supported")
    assert operator_outside.startswith("there is no Deployment <cardquota-system/cardquota>")


def the_documented_rights_suffice(team: Team, folder: Path, operator: OperatorProcess) -> None:
    """All but the Secret, which nobody needs."""
    sample = CHECKOUT / "manifests" / "samples" / "plugin-role.yaml"
    role = yaml.safe_load(sample.read_text())
    role["metadata"]["name"] = team.prefix
    assert ask(team.cluster, "POST", ROLES, role).ok
    binding = {
        "metadata": {"name": team.prefix},
        "roleRef": {**ROLE_REFERENCE, "name": team.prefix},
        "subjects": [{"kind": "ServiceAccount", "namespace": team.namespace, "name": "default"}],
    }
    assert ask(team.cluster, "POST", ROLE_BINDINGS, binding).ok
    path = f"/api/v1/namespaces/{team.namespace}/serviceaccounts/default/token"
    token = eventually(lambda: ask(team.cluster, "POST", path, {"spec": {}}).body.get("status"), "")
    config = json.loads(team.cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token["token"]}
    (folder / "reader").write_text(json.dumps(config))

    def complete() -> dict[str, Object]:
        """The sections, once the binding is known to the API server."""
        code, sections = check(folder / "reader", f"--config={operator.config}")
        whole = code == 0 and all(section["complete"] for section in sections.values())
        return sections if whole else {}

    sections = eventually(complete, "all is looked at")
    hidden = [one for one in sections["installation"]["notes"] if one.startswith("you may not")]
    assert ["Secret <cardquota-system/cardquota-webhook>" in one for one in hidden] == [True]


def everything_is_found(team: Team, operator: OperatorProcess, queue: str, card: str) -> None:
    bare = team.cluster
    assert ask(bare, "DELETE", f"{BINDINGS}/cardquota-namespaces").ok
    wrong_key = {"scheduling.volcano.sh/queuename": queue}
    labels = {"volcano.sh/card-quota": "enforce"}
    odd = {"metadata": {"labels": labels, "annotations": wrong_key}}
    path = f"/api/v1/namespaces/{team.namespace}"

    def labelled() -> bool:
        """The API server refuses it until it has seen that the binding is gone."""
        return ask(bare, "PATCH", path, odd, content_type=MERGE).ok

    eventually(labelled, "the label is written")
    team.set_quota({card: 1, f"{card}s": 1})
    team.until_row(card, quota=1)
    assert team.annotate(team.a_queue({}), "card.polcy", "Gate").ok
    role = ask(bare, "GET", f"{ROLES}/cardquota").body
    # Nothing that the operator has to do to go on.
    rules = [rule for rule in role["rules"] if "runtimeclasses" not in rule["resources"]]
    assert ask(bare, "PATCH", f"{ROLES}/cardquota", {"rules": rules}, content_type=MERGE).ok

    def all_of_it() -> bool:
        """Rights are known to the API server a moment later."""
        code, sections = check(bare.kubeconfig, f"--config={operator.config}")
        return code == 3 and found(sections) >= {
            ("installation", "InstallationDiffers", "cardquota-namespaces"),
            ("installation", "RightsMissing", "cardquota"),
            ("namespaces", "NamespaceModeUnknown", team.namespace),
            ("namespaces", "UnknownKey", team.namespace),
            ("queues", "OverQuota", queue),
            ("queues", "NoSuchCard", queue),
            ("queues", "UnknownKey", queue),
        }

    eventually(all_of_it, "all of it is found")
