"""People of the demo type real commands: here to a kubectl that only pretends."""

from pathlib import Path

import pytest

from cardquota_dev.demo.answer import says
from cardquota_dev.demo.screen import Screen
from cardquota_dev.demo.step_error import StepError
from cardquota_dev.demo.user import Person

PRETENDED = """\
#!/bin/sh
case "$1" in
    refuse) echo "Error from server (Reason): because" >&2; exit 1;;
    count) echo x >> counted; wc -l < counted;;
    *) echo "$KUBECONFIG:" "$@";;
esac
"""


@pytest.fixture
def somebody(tmp_path: Path) -> Person:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(PRETENDED)
    kubectl.chmod(0o755)
    return Person(
        "somebody",
        Screen(),
        kubectl=kubectl,
        kubeconfig=Path("/their/kubeconfig"),
        cache=tmp_path,
        files=tmp_path,
        patience=1.0,
    )


def test_a_command_is_printed_as_typed_with_its_answer(
    somebody: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    somebody.does("kubectl patch -p '{\"a b\": 1}'", says('{"a b": 1}'))
    assert capsys.readouterr().out == (
        '\n$ kubectl patch -p \'{"a b": 1}\'   # somebody\n/their/kubeconfig: patch -p {"a b": 1}\n'
    )


def test_a_refusal_must_be_one_and_say_why(somebody: Person) -> None:
    somebody.is_refused("kubectl refuse", "(Reason)", "because")
    with pytest.raises(StepError, match="a refusal"):
        somebody.is_refused("kubectl get")
    with pytest.raises(StepError, match="for no reason"):
        somebody.is_refused("kubectl refuse", "for no reason")


def test_what_should_work_must_not_be_refused(somebody: Person) -> None:
    with pytest.raises(StepError, match="exit status 0"):
        somebody.does("kubectl refuse")


def test_people_look_again_and_see_what_was_awaited(
    somebody: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    somebody.sees("kubectl count", says("3"))
    assert capsys.readouterr().out == "\n$ kubectl count   # somebody\n3\n"


def test_what_never_comes_fails_with_the_last_thing_seen(somebody: Person) -> None:
    with pytest.raises(StepError) as caught:
        somebody.sees("kubectl get", says("never"))
    assert caught.value.expected == '"never"'
    assert caught.value.seen.endswith("/their/kubeconfig: get")


def test_only_kubectl_is_run(somebody: Person) -> None:
    with pytest.raises(ValueError, match="not a kubectl command"):
        somebody.does("rm -r /")
