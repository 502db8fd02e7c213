"""What is read of a priority class."""

import msgspec

from cardquota.quota.objects import PriorityClass


def test_the_number_behind_a_name_is_read_and_whether_it_is_everybodys() -> None:
    text = b'{"metadata": {"name": "high"}, "value": 100, "globalDefault": true, "description": ""}'
    found = msgspec.json.decode(text, type=PriorityClass)
    assert (found.metadata.name, found.value, found.global_default) == ("high", 100, True)


def test_one_that_says_nothing_has_the_number_zero_and_is_nobodys() -> None:
    found = msgspec.json.decode(b'{"metadata": {"name": "plain"}}', type=PriorityClass)
    assert (found.value, found.global_default) == (0, False)
