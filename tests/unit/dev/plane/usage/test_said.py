import pytest

from cardquota_dev.plane.usage.annotation import StatedUsage
from cardquota_dev.plane.usage.objects import Annotations, UsageMeta
from cardquota_dev.plane.usage.said import SaidUsage


def metadata(text: str | None, name: str = "p") -> UsageMeta:
    annotations = Annotations(usage=text)
    return UsageMeta(name=name, namespace="team", annotations=annotations)


def test_no_annotation_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    said = SaidUsage()
    assert said.by(UsageMeta(name="p")) == said.by(metadata(None)) == StatedUsage()
    assert not caplog.records


def test_an_unreadable_one_is_logged_once_for_each_text(caplog: pytest.LogCaptureFixture) -> None:
    said = SaidUsage()
    for text in ("[]", "[]", "oops", "oops", '{"cpu": 1}'):
        said.by(metadata(text))
    assert [one.getMessage().partition(":")[0] for one in caplog.records] == [
        "cardquota.dev/usage of team/p cannot be read and does not count"
    ] * 2


def test_what_was_logged_is_not_kept_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    said = SaidUsage()
    for number in range(1_001):
        said.by(metadata("[]", f"p{number}"))
    said.by(metadata("[]", "p0"))
    assert len(caplog.records) == 1_002
