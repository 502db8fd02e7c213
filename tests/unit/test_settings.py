"""Settings that do not go together: refused, or accepted and said."""

from pathlib import Path
from typing import Any

import pytest

from cardquota.quota.vocabulary import ReclaimMode
from cardquota.reclaim_settings import Reclaim
from cardquota.settings import Enqueue, Settings, SettingsError, Volcano, load


def refused(folder: Path, written: str) -> str:
    """What is said of such a file."""
    file = folder / "config.yaml"
    file.write_text(written)
    with pytest.raises(SettingsError) as error:
        load(file)
    return str(error.value)


@pytest.mark.parametrize(
    ("settle", "patch_timeout", "well"),
    [(3, 2.5, True), (3, 2.6, False), (1.5, 1, True), (1, 1, False), (60, 4, True)],
)
def test_a_new_leader_should_wait_until_the_last_patch_of_its_predecessor_has_ended(
    settle: float, patch_timeout: float, *, well: bool
) -> None:
    """I1: it may be sent at the very deadline, and is stored within its own time-out."""
    times: Any = {"leaderElection": {"settle": settle}, "release": {"patchTimeout": patch_timeout}}
    said = Settings(**times).hazards
    assert (said == ()) is well
    if said:
        assert f"leaderElection.settle <{settle:g}> should be at least" in said[0]
        assert f"<{patch_timeout + 0.5:g}>" in said[0]


def test_the_defaults_are_well() -> None:
    assert Settings().hazards == ()


def test_n3_a_port_that_anybody_may_ask_is_a_hazard() -> None:
    beside = Settings(scheduler="volcano", volcano=Volcano(enqueue=Enqueue(path_secret=32 * "a")))
    assert beside.hazards == ()
    (said,) = Settings(scheduler="volcano").hazards
    assert "volcano.enqueue.pathSecret is empty" in said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "leaderElection: {duration: 5, renewDeadline: 6}",
            (
                "leaderElection: retryPeriod <1> must be less than renewDeadline <6>, and that "
                "less than duration <5>"
            ),
        ),
        (
            "release: {patchTimeout: 7}",
            (
                "leaderElection.renewDeadline <8> must exceed leaderElection.retryPeriod + "
                "release.patchTimeout + 0.5 <8.5>, or no gate could ever be opened in time"
            ),
        ),
    ],
)
def test_times_that_contradict_each_other_are_told(tmp_path: Path, written: str, said: str) -> None:
    assert said in refused(tmp_path, written)


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("extender: {lateBinding: true}", "extender.lateBinding"),
        ("extender: {schedulers: [mine]}", "extender.schedulers"),
        ("webhook: {unseenWait: 0.5}", "webhook.unseenWait"),
        ("cardSecondsRefresh: 300", "cardSecondsRefresh"),  # T5
        ("events: {renewalsPerSecond: 20}", "events.renewalsPerSecond"),
        ("release: {groupRefreshesPerSecond: 2}", "release.groupRefreshesPerSecond"),
        ("stuck: {gatedAfter: 60}", "stuck"),
        ("release: {replacementWait: 60}", "release.replacementWait"),
    ],
)
def test_a_setting_that_is_gone_says_so(tmp_path: Path, written: str, key: str) -> None:
    assert f"{key}: there is no such setting any more: " in refused(tmp_path, written)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{job: Gate}", "policyByOwner.job"),
        ("{Job.batch: Gate}", "policyByOwner.Job.batch"),
        ("{1: Gate}", "policyByOwner.1"),
        ("{Job: Maybe}", "policyByOwner.Job"),
        ("[Job]", "policyByOwner"),
        (str(dict.fromkeys((f"K{number}" for number in range(101)), "Gate")), "policyByOwner"),
    ],
)
def test_a_kind_that_is_none_or_a_policy_that_is_none_is_refused(
    tmp_path: Path, written: str, said: str
) -> None:
    assert said in refused(tmp_path, f"policyByOwner: {written}")


def test_kinds_of_owners_may_stand_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDQUOTA_POLICY_BY_OWNER", '{"TaskRun": "Gate"}')
    assert Settings().policy_by_owner == {"TaskRun": "Gate"}


@pytest.mark.parametrize("name", ["MODE", "LOG", "VOLCANO", "volcano", "LOG__LEVEL"])
def test_without_our_prefix_it_is_nothing_to_us(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Such names are other programs' too."""
    monkeypatch.setenv(name, "audit")
    assert (Settings().mode, Settings().log.level) == ("enforce", "info")


@pytest.mark.parametrize("name", ["CARDQUOTA_LOG__LEVEL", "cardquota_log__level"])
def test_one_with_it_counts(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "debug")
    assert Settings().log.level == "debug"


def test_a_variable_comes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("{defaultQueue: file, events: {renewAfter: 100}}")
    monkeypatch.setenv("CARDQUOTA_DEFAULT_QUEUE", "environment")
    monkeypatch.setenv("CARDQUOTA_EVENTS__RENEW_AFTER", "300")
    found = load(file)
    assert found.default_queue == "environment"
    assert found.events.renew_after == 300


@pytest.mark.parametrize(
    ("written", "mode", "after"),
    [
        ("{}", "off", 60),
        ("reclaim: off", "off", 60),
        ("reclaim: on", "on", 60),
        ("reclaim: 'on'", "on", 60),
        ("reclaim: dryRun", "dryRun", 60),
        ("reclaim: {mode: on, after: 5}", "on", 5),
        ("reclaim: {after: 5}", "off", 5),
    ],
)
def test_l6_the_mode_of_reclaiming_is_a_word_or_a_section(
    tmp_path: Path, written: str, mode: str, after: float
) -> None:
    """YAML reads `on` and `off` as booleans."""
    file = tmp_path / "config.yaml"
    file.write_text(written)
    found = load(file).reclaim
    assert (found.mode, found.after) == (mode, after)


@pytest.mark.parametrize(
    ("variables", "mode", "after"),
    [
        ({"RECLAIM": "on"}, "on", 60),
        ({"RECLAIM": "off"}, "off", 60),
        ({"RECLAIM": "true"}, "on", 60),
        ({"RECLAIM__MODE": "on"}, "on", 60),
        ({"RECLAIM": "dryRun", "RECLAIM__AFTER": "5"}, "dryRun", 5),
        ({"RECLAIM": '{"mode": "on", "after": 5}'}, "on", 5),
    ],
)
def test_l6_variables_say_the_same(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], mode: str, after: float
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"CARDQUOTA_{name}", value)
    found = Settings().reclaim
    assert (found.mode, found.after) == (mode, after)


@pytest.mark.parametrize(
    ("written", "name", "value", "mode", "after"),
    [
        ("reclaim: on", "RECLAIM__AFTER", "5", "on", 5),
        ("reclaim: {after: 5}", "RECLAIM", "dryRun", "dryRun", 5),
        ("reclaim: on", "RECLAIM", "off", "off", 60),
    ],
)
def test_l6_a_word_and_a_section_are_merged(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    written: str,
    name: str,
    value: str,
    mode: str,
    after: float,
) -> None:
    """Of the file and the environment: neither takes away what the other does not name."""
    file = tmp_path / "config.yaml"
    file.write_text(written)
    monkeypatch.setenv(f"CARDQUOTA_{name}", value)
    found = load(file).reclaim
    assert (found.mode, found.after) == (mode, after)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("reclaim: sometimes", "reclaim.mode: must be 'off', 'dryRun' or 'on'"),
        ("reclaim: {mode: dryrun}", "reclaim.mode: must be 'off', 'dryRun' or 'on'"),
        ("reclaim:", "reclaim.mode: must be 'off', 'dryRun' or 'on'"),
        ("reclaim: {after: 0}", "reclaim.after: must be greater than 0"),
        ("reclaim: {evictionsPerMinute: 0}", "reclaim.evictionsPerMinute: must be"),
        ("reclaim: {budget: 5}", "reclaim.budget: there is no such setting"),
        ("preempt: on", "preempt: must be a mapping"),
    ],
)
def test_l6_unknown_words_of_reclaiming_are_refused(
    tmp_path: Path, written: str, said: str
) -> None:
    assert said in refused(tmp_path, written)


def test_l6_an_unknown_word_in_a_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDQUOTA_RECLAIM", "sometimes")
    with pytest.raises(SettingsError, match="must be 'off', 'dryRun' or 'on'"):
        load(None)


@pytest.mark.parametrize(
    ("installed", "annotation", "effective"),
    [
        ("off", "on", "off"),
        ("dryRun", "on", "dryRun"),
        ("on", "dryRun", "dryRun"),
        ("on", "off", "off"),
        ("on", "on", "on"),
        ("dryRun", None, "dryRun"),
        ("on", None, "on"),
    ],
)
def test_l6_a_queue_may_say_less_than_the_installation(
    installed: str, annotation: str | None, effective: str
) -> None:
    of_queue = ReclaimMode(annotation) if annotation is not None else None
    assert Reclaim(mode=ReclaimMode(installed)).mode_in(of_queue) == effective
