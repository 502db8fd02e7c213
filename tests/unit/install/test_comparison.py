"""What counts as a difference between what was rendered and what an API server gives back.

What a real one fills in is in tests/integration/process/test_installation.py.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from cardquota.install import differences, documents
from cardquota.settings import GateSetter, Settings, Webhook

Object = dict[str, Any]
RENDERED = {(one["kind"], one["metadata"]["name"]): one for one in documents(Settings())}
BY_POLICY = documents(Settings(webhook=Webhook(gate=GateSetter.POLICY)))
(VALIDATING,) = (
    one
    for one in BY_POLICY
    if (one["kind"], one["metadata"]["name"]) == ("ValidatingWebhookConfiguration", "cardquota")
)
BY_URL = documents(Settings(webhook=Webhook(url="https://10.0.0.1")))[-1]
POLICY = RENDERED["ValidatingAdmissionPolicy", "cardquota-pods"]
LAST = len(POLICY["spec"]["validations"]) - 1
PODS = "webhooks[pods.cardquota.volcano.sh]"
ENFORCED = "webhooks[pods-enforced.cardquota.volcano.sh]"
BINDING = RENDERED["ValidatingAdmissionPolicyBinding", "cardquota-gate-term"]


def changed(wanted: Object, change: Callable[[Object], object]) -> list[str]:
    found = deepcopy(wanted)
    change(found)
    return differences(wanted, found)


@pytest.mark.parametrize("wanted", RENDERED.values(), ids=[" ".join(key) for key in RENDERED])
def test_the_same_is_no_difference_and_nothing_is_one(wanted: Object) -> None:
    assert differences(wanted, deepcopy(wanted)) == []
    assert differences(wanted, None) == ["is missing"]
    empty = {"kind": wanted["kind"], "metadata": {}}
    assert differences(wanted, empty) != []


@pytest.mark.parametrize(
    ("wanted", "change"),
    [
        (POLICY, lambda o: o["metadata"].update(labels={"a": "b"}, annotations={"c": "d"})),
        (POLICY, lambda o: o.update(status={"observedGeneration": 1})),
        (POLICY, lambda o: o["spec"].update(ofALaterVersion=True)),
        (POLICY, lambda o: o["spec"]["matchConstraints"]["resourceRules"][0]["operations"].sort()),
        (VALIDATING, lambda o: o["webhooks"].reverse()),
        (VALIDATING, lambda o: o["webhooks"][0]["clientConfig"].update(caBundle="QQ==")),
        (VALIDATING, lambda o: o["webhooks"][0]["clientConfig"]["service"].update(path="/a/b")),
        (BY_URL, lambda o: o["webhooks"][0]["clientConfig"].update(url="https://10.0.0.1/a/b")),
        (VALIDATING, lambda o: o["webhooks"][0]["namespaceSelector"]["matchExpressions"].reverse()),
        (VALIDATING, lambda o: o["webhooks"][-1].update(objectSelector={})),
    ],
)
def test_what_changes_no_meaning(wanted: Object, change: Callable[[Object], object]) -> None:
    assert changed(wanted, change) == []


@pytest.mark.parametrize(
    ("wanted", "change", "told"),
    [
        (
            VALIDATING,
            lambda o: o["webhooks"][0].update(failurePolicy="Fail"),
            "has webhooks[pods.cardquota.volcano.sh].failurePolicy Fail instead of Ignore",
        ),
        (
            VALIDATING,
            lambda o: o["webhooks"][0]["namespaceSelector"]["matchExpressions"].pop(),
            f"lacks {PODS}.namespaceSelector.matchExpressions[volcano.sh/card-quota]",
        ),
        (
            VALIDATING,
            lambda o: o["webhooks"][0]["namespaceSelector"].update(matchLabels={"a": "b"}),
            f"has {PODS}.namespaceSelector.matchLabels.a b instead of none",
        ),
        (
            VALIDATING,
            lambda o: o["webhooks"][0]["objectSelector"].update(matchLabels={"a": "b"}),
            f"has {PODS}.objectSelector.matchLabels.a b instead of none",
        ),
        (VALIDATING, lambda o: o["webhooks"].pop(0), "lacks webhooks[pods.cardquota.volcano.sh]"),
        (
            VALIDATING,
            lambda o: o["webhooks"].append({"name": "x.example.com"}),
            "has webhooks[x.example.com], which does not belong there",
        ),
        (
            VALIDATING,
            lambda o: o["webhooks"][1]["matchConditions"][-1].update(expression="false"),
            f"has another {ENFORCED}.matchConditions[may-be-ours].expression",
        ),
        (
            POLICY,
            lambda o: o["spec"].update(failurePolicy="Ignore"),
            "has failurePolicy Ignore instead of Fail",
        ),
        (POLICY, lambda o: o["spec"]["validations"].pop(), f"lacks validations[{LAST}]"),
        (
            POLICY,
            lambda o: o["spec"]["matchConstraints"].update(
                excludeResourceRules=[{"resources": ["pods"]}]
            ),
            "has matchConstraints.excludeResourceRules[0], which does not belong there",
        ),
        (
            BINDING,
            lambda o: o["spec"].update(validationActions=["Warn"]),
            'has validationActions ["Warn"] instead of ["Deny"]',
        ),
        (
            BINDING,
            lambda o: o["spec"]["paramRef"].update(name="other"),
            "has paramRef.name other instead of cardquota",
        ),
    ],
)
def test_what_does(wanted: Object, change: Callable[[Object], object], told: str) -> None:
    assert changed(wanted, change) == [told]
