"""Users of the demo type real commands: here to a fake kubectl."""

from pathlib import Path

import pytest

from cardquota_dev.demo.command_result import says
from cardquota_dev.demo.screen import Screen
from cardquota_dev.demo.step_error import StepError
from cardquota_dev.demo.user import User

FAKE_KUBECTL = """\
#!/bin/sh
case "$1" in
    refuse) echo "Error from server (Reason): because" >&2; exit 1;;
    count) echo x >> counted; wc -l < counted;;
    *) echo "$KUBECONFIG:" "$@";;
esac
"""


@pytest.fixture
def user(tmp_path: Path) -> User:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(FAKE_KUBECTL)
    kubectl.chmod(0o755)
    return User(
        "somebody",
        Screen(),
        kubectl=kubectl,
        kubeconfig=Path("/their/kubeconfig"),
        cache=tmp_path,
        files=tmp_path,
        timeout=1.0,
    )


def test_a_command_is_printed_as_typed_with_its_answer(
    user: User, capsys: pytest.CaptureFixture[str]
) -> None:
    user.does("kubectl patch -p '{\"a b\": 1}'", says('{"a b": 1}'))
    assert capsys.readouterr().out == (
        '\n$ kubectl patch -p \'{"a b": 1}\'   # somebody\n/their/kubeconfig: patch -p {"a b": 1}\n'
    )


def test_a_refusal_must_be_one_and_say_why(user: User) -> None:
    user.is_refused("kubectl refuse", "(Reason)", "because")
    with pytest.raises(StepError, match="a refusal"):
        user.is_refused("kubectl get")
    with pytest.raises(StepError, match="for no reason"):
        user.is_refused("kubectl refuse", "for no reason")


def test_what_should_work_must_not_be_refused(user: User) -> None:
    with pytest.raises(StepError, match="exit status 0"):
        user.does("kubectl refuse")


def test_users_look_again_and_see_what_was_awaited(
    user: User, capsys: pytest.CaptureFixture[str]
) -> None:
    user.sees("kubectl count", says("3"))
    assert capsys.readouterr().out == "\n$ kubectl count   # somebody\n3\n"


def test_what_never_comes_fails_with_the_last_thing_seen(user: User) -> None:
    with pytest.raises(StepError) as caught:
        user.sees("kubectl get", says("never"))
    assert caught.value.expected == '"never"'
    assert caught.value.seen.endswith("/their/kubeconfig: get")


def test_only_kubectl_is_run(user: User) -> None:
    with pytest.raises(ValueError, match="not a kubectl command"):
        user.does("rm -r /")
