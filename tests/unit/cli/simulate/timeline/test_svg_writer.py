"""SVG as text."""

import pytest

from cardquota.cli.simulate.timeline.svg_writer import SvgWriter, number, steps_between

from .timelines import parsed


def test_all_from_outside_is_escaped_and_what_xml_cannot_hold_is_shown_as_a_question_mark() -> None:
    svg = SvgWriter(10, 20)
    with svg.within("g", {"id": 'a"<&\x00', "x": 1}):
        svg.element("text", {}, "<b>&\x07\ud800\ufffe")
    found = parsed(svg.text)
    assert found.attrib["viewBox"] == "0 0 10 20"
    assert found[0].attrib == {"id": 'a"<&?', "x": "1"}
    assert found[0][0].text == "<b>&???"


@pytest.mark.parametrize(("value", "text"), [(1, "1"), (1.04, "1"), (1.26, "1.3"), (-0.5, "-0.5")])
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_steps_between_two_curves() -> None:
    path = steps_between([0, 1, 2, 3], [5, 5, 2], [9, 9, 9])
    assert path == "M0 5H2V2H3L3 9H0Z"
