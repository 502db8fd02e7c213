"""The page in a real Chromium, over a ledger that no API server would hold."""

import os
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from builders import H200, H800, Body, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import time_text
from cardquota_dev.paths import CHECKOUT
from harness.page_reader import ASK, LIST, NODES, PageReader

from .conftest import CHIEF, Opens, serving

pytestmark = pytest.mark.long

SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(2)>"
ROWS = 1_000
RENDERED = 1_000.0
"""Milliseconds until so many rows stand. Two cores need a third."""


def worker(name: str, queue: str, cards: int, card: str = H200) -> PodBody:
    pod = a_pod(name).with_uid(f"{queue}/{name}").in_queue(queue).naming(card).asking_for(cards)
    since = time_text(int(time.time()) - 60 * len(name))
    return pod.owned_by("Job", name=name).put(since, "metadata", "creationTimestamp")


def released(name: str, queue: str, cards: int, card: str = H200) -> PodBody:
    return worker(name, queue, cards, card).stamped(queue, {card: cards})


def holder(name: str, queue: str, cards: int, card: str = H200, node: str = "hopper-1") -> PodBody:
    return released(name, queue, cards, card).on_node(node)


def waiter(name: str, queue: str, cards: int) -> PodBody:
    return worker(name, queue, cards).gated()


def reader_of(*things: Body) -> PageReader:
    return PageReader(*things, chief={LIST, ASK, NODES})


def a_day() -> PageReader:
    """As an administrator might find it in the morning."""
    quotas = {"research": {H200: 8, H800: 4}, "vision": {H800: 6}, "speech": {H200: 2}}
    return reader_of(
        *(a_node(f"hopper-{n}").with_uid(f"h{n}").with_cards(H200, 8) for n in (1, 2)),
        a_node("ampere-1").with_uid("a1").with_cards(H800, 8),
        a_node("ampere-2").with_uid("a2").with_cards(H800, 8).put(True, "spec", "unschedulable"),
        *(a_queue(name).with_uid(name).with_quota(rows) for name, rows in quotas.items()),
        a_queue("archive").with_uid("archive").with_quota({H800: 2}).closed(),
        holder("pretrain", "research", 4),
        holder("finetune", "research", 2),
        holder("transcribe", "speech", 3, node="hopper-2"),
        holder("detect", "vision", 3, H800, "ampere-1"),
        released("segment", "vision", 2, H800),
        *(waiter(f"sweep-{n}", "research", 4) for n in range(3)),
    )


def test_f8_a_name_is_text_whatever_it_looks_like(opened: Opens) -> None:
    reader = reader_of(
        a_node(IMAGE).with_uid("n").with_cards(H200, 8),
        a_queue(SCRIPT).with_uid("q").with_quota({H200: 1, IMAGE: 2}),
        holder(IMAGE, SCRIPT, 1).in_namespace(IMAGE),
        waiter(SCRIPT, SCRIPT, 1).in_namespace(IMAGE),
    )
    with serving(reader) as url, opened(url, extra_http_headers=CHIEF) as (page, _):
        page.get_by_role("button", name=SCRIPT, exact=True).press("Enter")
        page.wait_for_selector("dialog table")
        told = page.locator("#queue").inner_text()
        assert f"{SCRIPT}: Open" in told
        assert IMAGE in told
        page.keyboard.press("Escape")
        page.click("#nodes summary")
        page.get_by_text(IMAGE, exact=True).first.wait_for()
        assert page.locator("body script, body img").count() == 0


DRAWN = """() => new Promise((done) => {
    const { duration } = performance.getEntriesByName("overview", "measure")[0];
    const begun = performance.now();
    document.getElementById("rows").style.paddingTop = "1px";  // laid out once more
    const drawn = () => done(duration + performance.now() - begun);
    requestAnimationFrame(() => setTimeout(drawn));
})"""


def test_f8_a_thousand_rows_stand_within_a_second(opened: Opens) -> None:
    cards = [H200, H800, "NVIDIA-A100", "NVIDIA-L40S", "NVIDIA-T4", "NVIDIA-V100"]
    names = [f"queue-{n:04}" for n in range(ROWS)]
    queues = (a_queue(name).with_uid(name).with_quota(dict.fromkeys(cards, 8)) for name in names)
    with (
        serving(reader_of(*queues, waiter("last", names[-1], 9))) as url,
        opened(url, extra_http_headers=CHIEF) as (page, _),
    ):
        assert page.locator("#rows .row").count() == ROWS
        took = []
        for _ in range(3):  # others may have the cores meanwhile
            page.reload()
            page.wait_for_selector("#live.on")
            took.append(page.evaluate(DRAWN))
        assert min(took) < RENDERED
        page.fill("#find", "queue-07")
        assert page.inner_text("#shown") == "100 of 1,000 queues"
        page.fill("#find", "")
        page.check("#only-waiting")
        assert page.inner_text("#shown") == "1 of 1,000 queues"
        expect(page.locator("#rows .row:not([hidden])")).to_contain_text(names[-1])


def test_f8_by_keyboard_alone(opened: Opens) -> None:
    with serving(a_day()) as url, opened(url, extra_http_headers=CHIEF) as (page, _):

        def focused() -> str:
            return str(page.evaluate("document.activeElement.textContent"))

        page.focus("#sort")
        page.keyboard.press("Tab")
        assert focused() == "archive"
        page.keyboard.press("ArrowDown")
        assert focused() == "research"
        page.keyboard.press("End")
        assert focused() == "vision"
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open] table")
        assert page.inner_text("#queue-title") == "research: Open"
        for _ in range(2):  # it stays over an update: the second begins when the first is shown
            with page.expect_response("**/overview"):
                pass
        assert page.inner_text("#queue-title") == "research: Open"
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="hidden")
        assert focused() == "research"
        page.keyboard.press("Tab")
        assert focused() == "Nodes"
        page.keyboard.press("Enter")
        page.wait_for_selector("#node-rows .row")


CONTRAST = """() => {
    const light = (rgb) => {
        const [r, g, b] = rgb.match(/[0-9.]+/g).map((n) => n / 255)
            .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = light(getComputedStyle(document.getElementById("queues")).backgroundColor);
    return [".row button", ".over", ".wait", ".soft, .more, .hint"].map((what) => {
        const ink = light(getComputedStyle(document.querySelector(what)).color);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_f8_in_light_and_dark_all_can_be_read(opened: Opens, scheme: str, tmp_path: Path) -> None:
    """WCAG AA. And what no colour has to tell stands beside the bars."""
    how = {"color_scheme": scheme, "viewport": {"width": 1180, "height": 720}}
    with serving(a_day()) as url, opened(url, extra_http_headers=CHIEF, **how) as (page, _):
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0]")
        assert (int(paper) > 128) == (scheme == "light")
        assert min(page.evaluate(CONTRAST)) >= 4.5
        rows = page.locator("#rows .row")
        # A row has no inner text before the browser knows whether it is in view.
        expect(rows.nth(1)).to_contain_text("6 / 8")
        expect(rows.nth(1)).to_contain_text("12 wait")
        expect(rows.nth(2)).to_contain_text("over by 1")
        expect(rows.nth(0)).to_contain_text("closed")
        page.click("#nodes summary")
        expect(page.locator("#node-rows")).to_contain_text("takes no pods", timeout=20_000)
        wanted = CHECKOUT / "docs" / "pictures" if os.environ.get("WRITE_PICTURES") else tmp_path
        page.screenshot(path=wanted / f"page-{scheme}.png")


def test_f7_who_has_no_token_is_told_what_to_do(opened: Opens) -> None:
    with serving(a_day()) as url, opened(url, extra_http_headers=CHIEF) as (page, watched):
        page.set_extra_http_headers({})
        page.context.set_extra_http_headers({})
        page.get_by_text("send a bearer token").wait_for(timeout=20_000)
        assert page.inner_text("#live") == "not live"
        # The browser itself notes each refused request.
        assert {("401" in one) for one in watched.faults} == {True}
        watched.faults.clear()


def test_f7_who_may_not_list_nodes_goes_on_reading_a_queue(opened: Opens) -> None:
    things = a_queue("red").with_uid("red").with_quota({H200: 1})
    reader = PageReader(things, board={LIST}, chief={LIST, NODES})
    board = {"Authorization": "Bearer board"}
    with serving(reader) as url, opened(url, extra_http_headers=CHIEF) as (page, watched):
        page.click("#nodes summary")  # and the right is taken away
        page.set_extra_http_headers(board)
        page.locator("#nodes").wait_for(state="hidden")
        page.get_by_role("button", name="red", exact=True).press("Enter")
        for _ in range(2):
            with page.expect_response("**/queue?name=red", timeout=10_000):
                pass
        assert page.locator("#live.on").count() == 1
        assert page.inner_text("#queue-title") == "red: Open"
        watched.faults.clear()  # of the refused request, if one was begun before
