"""Section 2: `card.card` is read as `card.name`, with a warning; two that disagree are refused."""

import pytest

from builders import H200, H800
from cardquota.quota.messages import request_messages
from cardquota.quota.objects import PodAnnotations
from cardquota.quota.pods import alias_warning, card_problem, card_text


@pytest.mark.parametrize("name", [None, H200])
def test_section_2_the_alias_alone_or_beside_the_same_name_is_warned_of(name: str | None) -> None:
    notes = PodAnnotations(card_name=name, card_alias=H200)
    assert (card_text(notes), card_problem(notes)) == (H200, "")
    assert alias_warning(notes) == (request_messages.alias_used(),)


@pytest.mark.parametrize("name", ["", H800, f"{H200}|{H800}"])
def test_section_2_an_alias_that_disagrees_is_a_problem_and_not_said_to_be_read(name: str) -> None:
    notes = PodAnnotations(card_name=name, card_alias=H200)
    assert card_problem(notes).endswith(f"<{H200}> disagree")
    assert alias_warning(notes) == ()


@pytest.mark.parametrize("notes", [None, PodAnnotations(), PodAnnotations(card_name=H200)])
def test_section_2_without_the_alias_nothing_is_said(notes: PodAnnotations | None) -> None:
    assert alias_warning(notes) == ()
    assert notes is None or card_problem(notes) == ""
