"""What is rendered: the same every time, never a refusal in audit mode, the committed file."""

import re
from typing import Any

import pytest

from builders import H200, a_pod
from builders.pod import PodBody
from builders.rendered import parsed, render_policies
from cardquota.install import documents, is_ours, render, webhook_paths
from cardquota.quota import (
    CARD_NAME,
    CARD_NAME_ALIAS,
    GATE,
    GPU_MEMORY_ASSIGNED,
    GPU_MEMORY_CARD,
    MANAGED,
    NAMESPACE_MODE,
    QUEUE_NAME_VOLCANO_JOB,
)
from cardquota.settings import Extender, GateSetter, InstallationMode, Settings, Volcano, Webhook
from cardquota.vendor_row import VendorRow

DEFAULTS = Settings.model_construct()
BINDING = Settings(extender=Extender(enabled=True))
BY_POLICY = Settings(webhook=Webhook(gate=GateSetter.POLICY))
BY_POLICY_IN_AUDIT = BY_POLICY.model_copy(update={"mode": InstallationMode.AUDIT})
BY_POLICY_REQUIRED = BY_POLICY.model_copy(update={"require_queue": True})


def of_kind(kind: str, settings: Settings) -> list[dict[str, Any]]:
    return [d for d in documents(settings) if d["kind"] == kind]


def webhooks(settings: Settings) -> list[dict[str, Any]]:
    found = (d for d in documents(settings) if d["kind"].endswith("WebhookConfiguration"))
    return [webhook for document in found for webhook in document["webhooks"]]


def of_path(path: str, settings: Settings) -> list[str]:
    """The names of the webhook configurations that are called there."""
    found = webhook_paths(settings).items()
    return [name.partition("/")[2] for name, called in found if called == path]


def named(webhooks: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [w for w in webhooks if w["name"] == f"{name}.cardquota.volcano.sh"]


def closed_by(settings: Settings) -> set[str]:
    """The webhooks that refuse where they cannot be asked, by their first names."""
    closed = {w["name"] for w in webhooks(settings) if w["failurePolicy"] == "Fail"}
    assert {name.partition(".")[2] for name in closed} == {"cardquota.volcano.sh"}
    return {name.partition(".")[0] for name in closed}


def test_same_settings_same_bytes() -> None:
    settings = Settings(default_queue="spare", exempt_namespaces=("b", "a"))
    assert render(settings) == render(Settings(default_queue="spare", exempt_namespaces=("a", "b")))


def test_policies_then_bindings_then_webhooks() -> None:
    assert parsed(render(DEFAULTS)) == documents(DEFAULTS)
    kinds = [d["kind"] for d in documents(DEFAULTS)]
    policies = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]
    order = [*policies, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
    assert list(dict.fromkeys(kinds)) == order
    assert kinds == sorted(kinds, key=order.index)
    assert {d["kind"] for d in parsed(render_policies(DEFAULTS))} == set(order[:2])


def test_enforcing_denies_and_fails_closed_where_it_must() -> None:
    bindings = of_kind("ValidatingAdmissionPolicyBinding", DEFAULTS)
    assert {tuple(b["spec"]["validationActions"]) for b in bindings} == {("Deny",)}
    assert closed_by(DEFAULTS) == {
        *("pods", "pods-enforced", "pods-audited", "resizes", "queues"),
        *("queue-reviews", "workload-reviews"),
    }


def test_audit_mode_denies_and_fails_closed_for_questions_alone() -> None:
    """F1: nobody's pods depend on these, and an answer that we have not given misleads."""
    settings = Settings(mode=InstallationMode.AUDIT)
    for binding in of_kind("ValidatingAdmissionPolicyBinding", settings):
        actions = binding["spec"]["validationActions"]
        if binding["metadata"]["name"] == "cardquota-questions":
            assert actions == ["Deny"]
        else:
            assert "Deny" not in actions
            assert "Audit" in actions
    assert closed_by(settings) == {"queue-reviews", "workload-reviews"}


@pytest.mark.parametrize("settings", [DEFAULTS, BY_POLICY])
def test_e2_a_pod_is_reviewed_once(settings: Settings) -> None:
    """By a webhook that may change it, or by one that looks at it after the policy that sets the
    gate: never by both.
    """
    kinds = {
        one["kind"]
        for one in documents(settings)
        for webhook in one.get("webhooks", ())
        if any("pods" in r["resources"] and "CREATE" in r["operations"] for r in webhook["rules"])
    }
    by_policy = settings.webhook.gate is GateSetter.POLICY
    assert kinds == {f"{'Validating' if by_policy else 'Mutating'}WebhookConfiguration"}


@pytest.mark.parametrize("settings", [BY_POLICY, BY_POLICY_IN_AUDIT, BY_POLICY_REQUIRED])
def test_where_a_policy_sets_the_gate_only_marked_pods_cost_anything(settings: Settings) -> None:
    """Nothing is evaluated for all other pods of the cluster. In audit mode no policy sets a gate,
    and none marks a pod.
    """
    (pods,) = named(webhooks(settings), "pods")
    marked = settings.mode is InstallationMode.ENFORCE
    assert ("matchConditions" not in pods) is marked
    wanted = {"matchExpressions": [{"key": MANAGED, "operator": "In", "values": ["true"]}]}
    assert pods.get("objectSelector") == (wanted if marked else None)


@pytest.mark.parametrize("settings", [DEFAULTS, BY_POLICY])
def test_each_namespace_has_one_webhook_for_pods(settings: Settings) -> None:
    """A pod is never sent twice to the same review, and in no namespace to none."""
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        all_of_kind = [w for one in of_kind(kind, settings) for w in one["webhooks"]]
        found = [w for w in all_of_kind if w["name"].startswith("pods")]
        for mode in (None, "enforced", "audit", "something else") if found else ():
            assert len([w for w in found if selects(w["namespaceSelector"], mode)]) == 1, mode
        assert not any(selects(w["namespaceSelector"], "off") for w in found)


def selects(selector: dict[str, Any], mode: str | None) -> bool:
    """Whether it selects a namespace of users with this label."""
    _, label = selector["matchExpressions"]
    assert label["key"] == "volcano.sh/card-quota"
    return (mode in label["values"]) is (label["operator"] == "In")


def test_where_a_policy_sets_the_gate_no_create_of_a_pod_fails_closed() -> None:
    """No webhook changes pods, and none of those that look at them is missed. A resize is held at
    once: no gate stands behind a yes.
    """
    changing = of_kind("MutatingWebhookConfiguration", BY_POLICY)
    rules = [rule["resources"] for one in changing for w in one["webhooks"] for rule in w["rules"]]
    assert rules == [["*/scale"], ["podgroups"], ["queuereviews"], ["workloadreviews"]]
    assert closed_by(BY_POLICY) == {"queues", "resizes", "queue-reviews", "workload-reviews"}
    assert {w["name"] for w in webhooks(BY_POLICY)} == {w["name"] for w in webhooks(DEFAULTS)}


def test_in_audit_mode_gates_are_dropped_wherever_we_look() -> None:
    """Else in the namespaces that are audited alone."""
    audited, everywhere = (BY_POLICY, "In", "audit"), (BY_POLICY_IN_AUDIT, "NotIn", "off")
    for settings, operator, mode in (audited, everywhere):
        binding = of_kind("MutatingAdmissionPolicyBinding", settings)[-1]
        own, label = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
        assert own["values"] == ["cardquota-system", "kube-system"]
        assert (label["operator"], label["values"]) == (operator, [mode])


def born_gated(settings: Settings) -> dict[str, str]:
    """What is checked of a managed pod that is created without the gate."""
    checks = gate_required(settings)["spec"]["validations"]
    (found,) = (one for one in checks if "was created without" in one["message"])
    return dict(found)


def gate_required(settings: Settings) -> dict[str, Any]:
    policies = of_kind("ValidatingAdmissionPolicy", settings)
    (found,) = (one for one in policies if one["metadata"]["name"] == "cardquota-gate-required")
    return found


def test_in_audit_mode_no_gate_is_demanded() -> None:
    """Nothing is gated there: a record of every pod would say nothing. The policy is there: who
    turns to audit mode by applying what is printed deletes nothing.
    """
    audited, enforced = (
        gate_required(one)["spec"]["matchConditions"][0]["expression"]
        for one in (Settings(mode=InstallationMode.AUDIT), DEFAULTS)
    )
    assert audited == "false"
    assert GATE in enforced


def test_a_missing_term_or_kind_of_it_never_refuses() -> None:
    policies = of_kind("ValidatingAdmissionPolicy", BINDING)
    by_term = {p["metadata"]["name"] for p in policies if "paramKind" in p["spec"]}
    assert by_term == {f"cardquota-{what}-term" for what in ("gate", "binding", "reservation")}
    for binding in of_kind("ValidatingAdmissionPolicyBinding", BINDING):
        reference = binding["spec"].get("paramRef")
        assert (binding["spec"]["policyName"] in by_term) == (reference is not None)
        if reference:
            assert reference["parameterNotFoundAction"] == "Allow"
    for policy in policies:
        ignores = policy["spec"]["failurePolicy"] == "Ignore"
        assert ignores == (policy["metadata"]["name"] in by_term)


@pytest.mark.parametrize("key", [GPU_MEMORY_CARD, GPU_MEMORY_ASSIGNED])
def test_without_the_extender_card_memory_is_somebody_elses(key: str) -> None:
    """Another extender and device plugin of the same protocol go on writing its annotations."""
    assert key not in render(DEFAULTS)
    with_it = of_kind("ValidatingAdmissionPolicy", BINDING)
    guarded = {p["metadata"]["name"] for p in with_it if key in str(p["spec"]["validations"])}
    assert guarded == {"cardquota-pods", "cardquota-pods-status", "cardquota-bindings"}


def test_n1_ca_bundle_and_path_are_left_to_the_operator() -> None:
    """So whoever applies the manifests again does not take them away."""
    assert "caBundle" not in render(DEFAULTS)
    assert not any("path" in w["clientConfig"]["service"] for w in webhooks(DEFAULTS))


def test_vendors_of_the_settings_reach_conditions_and_policies() -> None:
    settings = Settings(vendors=(VendorRow(name="Acme", prefix="acme.example", type="npu"),))
    pattern = re.compile(settings.vendor_table.pattern)
    assert pattern.search("acme.example/npu")
    assert pattern.search("nvidia.com/mig-1g.18gb")
    assert not pattern.search("acme.example/npu-link")
    assert not pattern.search("nvidia.com/hostdev")
    assert not pattern.search("Xacme.example/npu")
    for webhook in named(webhooks(settings), "pods-enforced") + named(webhooks(settings), "jobs"):
        assert r"acme\\.example/(npu|" in webhook["matchConditions"][-1]["expression"]
    assert r"acme\\.example/(npu|" in render_policies(settings)


def test_default_queue_makes_card_pods_managed() -> None:
    """Whoever asks for a card, and whoever names one: its resource may be in no vendor row."""
    settings = (Settings(default_queue="spare"), DEFAULTS)
    by_default, without = (born_gated(one)["expression"] for one in settings)
    of_namespace = "namespaceObject.?metadata.?annotations"
    assert of_namespace in without
    assert of_namespace not in by_default
    for expression in (by_default, without):
        assert "nvidia" in expression
        assert expression.count(f'"{CARD_NAME}"') == 1


def test_exempt_namespaces_and_our_own_are_left_out() -> None:
    settings = Settings(exempt_namespaces=("kube-system", "infra"), namespace="quota")
    for webhook in webhooks(settings):
        if webhook["name"].startswith(("queues.", "queue-reviews.", "workload-reviews.")):
            assert "namespaceSelector" not in webhook  # Queues are in no namespace
            continue
        left_out, mode = webhook["namespaceSelector"]["matchExpressions"]
        assert left_out["values"] == ["infra", "kube-system", "quota"]
        assert (mode["operator"], mode["values"]) in (
            ("NotIn", ["off"]),
            ("NotIn", ["off", "enforced"]),
            ("NotIn", ["off", "enforced", "audit"]),
            ("In", ["enforced"]),
            ("In", ["audit"]),
        )


def test_names_are_those_rendered() -> None:
    settings = Settings(webhook=Webhook(name="quota"))
    by_policy = Settings(webhook=Webhook(name="quota", gate=GateSetter.POLICY))
    for found, mutating in (
        (settings, ["quota", "quota-scales", "quota-reviews"]),
        (by_policy, ["quota-scales", "quota-reviews"]),
    ):
        rendered = [d["metadata"]["name"] for d in of_kind("MutatingWebhookConfiguration", found)]
        assert rendered == of_path("/mutate", found) == mutating
        rendered = [d["metadata"]["name"] for d in of_kind("ValidatingWebhookConfiguration", found)]
        assert rendered == of_path("/validate", found) == ["quota"]


def test_a_quote_in_a_setting_stays_inside_its_string() -> None:
    settings = Settings(vendors=(VendorRow(name="odd", prefix='a"b', type="c'd"),))
    assert r"a\"b/(c'd|" in render_policies(settings)


@pytest.mark.parametrize(
    ("pod", "ours"),
    [
        (a_pod(), False),
        (a_pod().asking_for(1), True),
        (a_pod().asking_for(1, "new.example/xpu"), False),
        (a_pod().asking_for(0), False),
        (a_pod().claiming_devices(), False),
        (a_pod().in_queue(""), True),
        (a_pod().annotated(QUEUE_NAME_VOLCANO_JOB, ""), True),
        (a_pod().in_group("gang"), True),
        (a_pod().naming(""), True),
        (a_pod().annotated(CARD_NAME_ALIAS, H200), True),
    ],
)
def test_whose_pods_reach_us_by_what_they_say_code_asks_too(pod: PodBody, ours: bool) -> None:
    """An annotation counts even if it is empty, as in the conditions."""
    assert is_ours(pod.wire(), pod.facts(), DEFAULTS.vendor_table) is ours


def test_volcanos_accounts_are_those_of_the_settings() -> None:
    """Whoever else has an account in its namespace is a stranger, as everybody is."""
    accounts = ("system:serviceaccount:batch:scheduler", "system:serviceaccount:batch:o'neill")
    settings = Settings(scheduler="volcano", volcano=Volcano(accounts=accounts))
    policies = render_policies(settings)
    for account in accounts:
        assert policies.count(account.replace("'", "''")) + policies.count(account) > 1
    assert "volcano-system" not in policies
    # A tenant may be able to make the namespace of these accounts where Volcano is not.
    standalone = Settings(volcano=Volcano(accounts=accounts))
    for nobody in (standalone, Settings(scheduler="volcano", volcano=Volcano(accounts=()))):
        assert "system:serviceaccount:batch" not in render_policies(nobody)
        assert "volcano-system" not in render_policies(nobody)


def test_v1_a_refusal_names_the_setting_by_which_volcano_is_known() -> None:
    """Volcano's scheduler and controllers have it in their log (V1, V6)."""
    for settings, what in (
        (Settings(scheduler="volcano"), "the setting volcano.accounts"),
        (DEFAULTS, "set scheduler: volcano"),
    ):
        texts = [
            check["messageExpression"]
            for policy in parsed(render_policies(settings))
            for check in policy["spec"].get("validations", ())
            if "if this user is" in check.get("messageExpression", "")
        ]
        assert len(texts) == 4  # of Bindings two; of pods, and of their status
        assert all("request.userInfo.username" in one and what in one for one in texts)


def test_v4_jobs_of_volcano_are_looked_at_beside_volcano_alone() -> None:
    """It fails open: each pod gets an answer of its own. No write of a status is asked about."""
    settings = Settings(scheduler="volcano")
    assert of_path("/validate", settings) == ["cardquota", "cardquota-volcano-jobs"]
    found = {d["metadata"]["name"]: d for d in documents(settings)}
    (webhook,) = found["cardquota-volcano-jobs"]["webhooks"]
    assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Ignore", "None")
    (rule,) = webhook["rules"]
    assert (rule["apiGroups"], rule["resources"]) == (["batch.volcano.sh"], ["jobs"])
    assert rule["operations"] == ["CREATE"]
    assert {"key": NAMESPACE_MODE, "operator": "NotIn", "values": ["off"]} in (
        webhook["namespaceSelector"]["matchExpressions"]
    )
    assert of_path("/validate", DEFAULTS) == ["cardquota"]
    assert "volcano-jobs" not in render(DEFAULTS)


def test_v1_what_others_are_refused_is_looked_at_beside_volcano_alone() -> None:
    """It decides nothing, is asked about nothing else, and nobody waits long for it."""
    settings = Settings(scheduler="volcano")
    assert of_path("/observe", settings) == ["cardquota-refused"]
    found = {d["metadata"]["name"]: d for d in documents(settings)}
    webhooks = found["cardquota-refused"]["webhooks"]
    assert [w["name"].partition(".")[0] for w in webhooks] == ["bindings", "groups"]
    for webhook in webhooks:
        assert (webhook["failurePolicy"], webhook["timeoutSeconds"]) == ("Ignore", 2)
        (condition,) = webhook["matchConditions"]
        for account in settings.volcano.accounts:
            assert account in condition["expression"]
        assert settings.service_account_user in condition["expression"]
    others = (DEFAULTS, Settings(scheduler="volcano", mode=InstallationMode.AUDIT))
    for other in others:
        assert "cardquota-refused" not in render(other)
        assert not of_path("/observe", other)
