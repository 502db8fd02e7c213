"""The picture: valid XML with every queue and card in it, bounded, and nothing unescaped."""

from pathlib import Path
from xml.etree.ElementTree import Element

import pytest

from cardquota.cli.simulate.timeline import timeline_picture
from cardquota.cli.simulate.timeline.timeline_picture import MOST_QUEUES, picture, write_picture
from cardquota.cli.simulate.timeline.trace_file import TraceError

from .timelines import FinishedTimeline, Run, node, parsed, queue

SVG = "{http://www.w3.org/2000/svg}"
H200 = "NVIDIA-H200"


def drawn(ran: FinishedTimeline) -> Element:
    return parsed(picture(ran.report))


def texts(found: Element) -> list[str]:
    return [one.text or "" for one in found.iter(f"{SVG}text")]


def test_queues_cards_lines_and_who_waits(run: Run) -> None:
    cluster = (
        node("n", 4) + queue("red", '{"NVIDIA-H200": 4}') + queue("b&<b>", '{"NVIDIA-H200": 3}')
    )
    ran = run(
        cluster,
        "one,0,red,NVIDIA-H200,4,1,3600,",
        "two,60,b&<b>,NVIDIA-H200,3,1,60,",
        "three,60,red,NVIDIA-H200,4,1,60,",
    )
    found = drawn(ran)
    written = texts(found)
    assert {"red", "b&<b>", H200, "on nodes: 4", "quotas: 7", "Queues", "jobs that wait"} <= {
        *written
    }
    assert "Cards held by queue, over 1h 2m" in written
    assert written.count("2") == 1  # the most that wait at one moment
    titles = [one.text for one in found.iter(f"{SVG}title")]
    assert titles[0] == "Cards held by queue, over 1h 2m"
    assert {"red: 4 card-hours", "b&<b>: 0 card-hours"} <= {*titles}
    assert not {"script", "foreignObject", "image", "a"} & {
        one.tag.removeprefix(SVG) for one in found.iter()
    }
    assert picture(ran.report) == picture(ran.report)


def test_the_area_of_a_queue_is_what_it_holds(run: Run) -> None:
    """Half of the cards for half of the time: a rectangle, at half of the nodes' line."""
    ran = run(
        node("n", 4) + queue("a", '{"NVIDIA-H200": 4}'),
        "one,0,a,NVIDIA-H200,2,1,480,",
        "none,960,a,NVIDIA-H200,9,1,1,",
    )
    (area,) = [one for one in drawn(ran).iter(f"{SVG}path") if one.find(f"{SVG}title") is not None]
    path = area.attrib["d"]
    bottom = 78 + 150
    half = 161  # 150 pixels are 4 * 1.12 cards
    assert path == f"M70 {half}H550V{bottom}H1030L1030 {bottom}H70Z"


def test_many_queues_and_cards_are_drawn_in_part(run: Run) -> None:
    cards = [f"card-{i}" for i in range(20)]
    quota = "{" + ", ".join(f'"{card}": 9' for card in cards) + "}"
    queues = [f"queue-{i:02}" for i in range(MOST_QUEUES + 3)]
    cluster = "".join(node(f"n-{card}", 20, card) for card in cards)
    cluster += "".join(queue(name, quota) for name in queues)
    lines = [f"j-{i},0,{name},card-0,1,1,{60 + i}," for i, name in enumerate(queues)]
    written = texts(drawn(run(cluster, *lines)))
    assert [name for name in queues if name not in written] == queues[:3]
    assert "3 other queues" in written
    assert sum(text.startswith("card-") for text in written) == timeline_picture.MOST_BANDS
    assert any("4 more cards, of which less is held, not drawn" in text for text in written)


def test_quotas_far_beyond_the_nodes_do_not_press_all_else_flat(run: Run) -> None:
    cluster = node("n", 4) + queue("a", '{"NVIDIA-H200": 400}')
    ran = run(cluster, "one,0,a,NVIDIA-H200,2,1,480,")
    assert "quotas: 400 (beyond the scale)" in texts(drawn(ran))


def test_nothing_held_and_no_time(run: Run) -> None:
    ran = run(node("n", 4) + queue("a", '{"NVIDIA-H200": 1}'), "one,0,a,NVIDIA-H200,9,1,480,")
    assert "1 job: 0 started, 1 denied, 0 never started." in " ".join(texts(drawn(ran)))


def test_its_size_does_not_grow_with_the_trace(run: Run) -> None:
    cluster = node("n", 8) + queue("a", '{"NVIDIA-H200": 8}')
    lines = [f"j-{i},{i * 50},a,NVIDIA-H200,{1 + i % 5},1,{40 + i % 97}," for i in range(1_500)]
    assert len(picture(run(cluster, *lines).report)) < 60_000


def test_a_file_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    ran = run(node("n", 4), "one,0,a,NVIDIA-H200,9,1,480,")
    with pytest.raises(TraceError, match="cannot be written: Is a directory"):
        write_picture(tmp_path, ran.report)
    write_picture(tmp_path / "p.svg", ran.report)
    assert (tmp_path / "p.svg").read_text() == picture(ran.report)
