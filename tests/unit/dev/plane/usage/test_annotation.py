import pytest

from cardquota_dev.plane.usage.annotation import StatedUsage, UsageError, read_usage


def test_cpu_and_memory_are_resources_and_all_else_is_custom() -> None:
    said = read_usage('{"cpu": "500m", "memory": "1Gi", "requests_per_second": "20"}')
    assert said == StatedUsage(cpu=500, memory=2**30, custom={"requests_per_second": 20_000})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", StatedUsage()),
        ('{"cpu": 2}', StatedUsage(cpu=2_000)),
        ('{"cpu": 0.25, "queue": 1.5}', StatedUsage(cpu=250, custom={"queue": 1_500})),
        ('{"cpu": "100u", "memory": "0.5"}', StatedUsage(cpu=1, memory=1)),
        ('{"cpu": "0"}', StatedUsage(cpu=0)),
    ],
)
def test_amounts_are_quantities_rounded_up(text: str, expected: StatedUsage) -> None:
    assert read_usage(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cpu: 500m",
        "[]",
        '"500m"',
        "[" * 100_000,
        '{"cpu": null}',
        '{"cpu": true}',
        '{"cpu": {"main": "1"}}',
        '{"cpu": "much"}',
        '{"cpu": "-1"}',
        '{"cpu": NaN}',
        '{"memory": 1e400}',
        '{"memory": "9E400"}',
        '{"requests_per_second": ""}',
        '{"requests_per_second": %s}' % ("9" * 5_000),
        '{"cpu": "500m", "requests_per_second": "x"}',
    ],
)
def test_one_that_cannot_be_read_says_nothing_at_all(text: str) -> None:
    with pytest.raises(UsageError):
        read_usage(text)


def test_a_long_name_is_cut_in_the_error() -> None:
    with pytest.raises(UsageError) as told:
        read_usage('{"%s": []}' % ("x" * 100_000))
    assert len(str(told.value)) < 200


def test_what_one_does_not_say_is_taken_from_the_other() -> None:
    pod = StatedUsage(cpu=0, custom={"a": 1})
    namespace = StatedUsage(cpu=7, memory=8, custom={"a": 9, "b": 2})
    assert pod.or_else(namespace) == StatedUsage(cpu=0, memory=8, custom={"a": 1, "b": 2})
