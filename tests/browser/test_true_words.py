"""What the console says of a fleet that runs is so: each sentence here was once otherwise."""

import json
import re
import urllib.error
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watched
from tests.browser.test_acting import stored
from tests.support.mixed_fleet import MESSAGES, Example, post

SIZES = {"MB": 1e6, "GB": 1e9}


def test_what_is_refused_is_no_failure_in_the_header_or_in_a_pool(watched: Watched, fleet: Example) -> None:
    for _ in range(3):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            post(f"{fleet.url}/v1/chat/completions", {"model": "no-such-model", "messages": MESSAGES})
    page = watched.open("fleet")
    refused = page.locator(".figures > div", has_text="refused").locator("dd")
    expect(refused).to_have_text(re.compile(r"[1-9]"), timeout=20_000)
    failed = page.locator(".figures > div", has_text="failed").locator("dd")
    expect(failed).to_have_text("0%")
    expect(failed).not_to_have_class(re.compile("bad"))
    pool = page.locator("[data-pool=h100] .facts > div", has_text="Failed · refused").locator("dd")
    expect(pool).to_have_text(re.compile(r"^(0%|–) · (0%|–)$"))


def test_a_pool_has_one_colour_at_every_rank(watched: Watched) -> None:
    page = watched.open("fleet")
    colours = page.evaluate(
        """async () => {
            const { tonesOf } = await import("/static/views/tones.js");
            const tones = (names) => names.map(tonesOf("pool", names));
            const busy = tones(["h100", "h200", "mi300x", "tpu-v5e", "cpu"]);
            const other = tones(["cpu", "mi300x", "h200", "tpu-v5e", "h100"]).reverse();
            return [busy, [other[0], other[2], other[3], other[1], other[4]], tones(["tpu-v5e"])];
        }"""
    )
    assert colours[0] == colours[1]
    assert colours[2] == [colours[0][3]]
    assert len(set(colours[0])) == 5
    page = watched.open("latency?span=24h")
    shown = {name: swatch(page, name) for name in ("h100", "h200", "mi300x", "tpu-v5e")}
    assert len(set(shown.values())) == 4
    page = watched.open("money?span=24h")
    expect(page.get_by_role("region", name="Dollars per hour").locator(".chart-legend")).to_contain_text("h100")
    assert {name: swatch(page, name) for name in shown} == shown


def test_a_restart_is_offered_only_where_it_can_be_done(watched: Watched) -> None:
    page = watched.open("fleet?open=h100,cpu")
    for pool, times in (("h100", 0), ("cpu", 1)):
        card = page.locator(f"[data-pool={pool}]")
        expect(card.get_by_role("button", name=f"Drain {pool}-0")).to_be_visible()
        expect(card.get_by_role("button", name=f"Restart {pool}-0")).to_have_count(times)
        expect(card.get_by_role("button", name="Restart", exact=True)).to_have_count(times)


def test_no_pool_is_busier_than_all_the_time(watched: Watched) -> None:
    page = watched.open("money")
    shown = page.evaluate(
        """async () => {
            const [{ rowsOf }, { byDay }] = await Promise.all(
                ["money_pools", "money_hours"].map((name) => import(`/static/views/${name}.js`)));
            const hours = {
                day: "2026-11-15", pool: "h100", hardware: "h100-sxm", up_us: 3600e6, paid_usd_micro: 2e6,
                busy_us: 1.55 * 3600e6, busy_usd_micro: 3e6, tokens: 1e6,
            };
            const [row] = rowsOf({ lines: [] }, { rows: [{ hours, cost: { idle_usd_micro: 0 } }] });
            const days = byDay([{ hours }], { since: "2026-11-15", until: "2026-11-16" });
            return [row.busyShare, days.busy, days.idle];
        }"""
    )
    assert shown == [1, [1], [0]]
    shares = page.get_by_role("table", name="Dollars by pool").locator(".meter-text")
    assert all(float(text.removesuffix("%")) <= 100 for text in shares.all_inner_texts())


def test_stored_requests_come_by_time_and_say_so(watched: Watched) -> None:
    page = watched.open("requests?mode=stored&span=24h")
    expect(page.locator(".live-line")).to_contain_text("100 shown, the newest first; more below")
    expect(page.locator("main table .sorter")).to_have_count(0)
    page.get_by_role("radio", name="Live").click()
    expect(page.locator("main table .sorter").first).to_be_visible()


def test_sorting_live_requests_sorts_all_that_are_known_and_not_those_shown(watched: Watched) -> None:
    page = watched.open("fleet")
    rows = page.evaluate(
        """async () => {
            const { table } = await import("/static/lib/table.js");
            const rows = Array.from({ length: 50 }, (_, id) => ({ id, ms: id }));
            const column = { key: "ms", title: "ms", numeric: true, sort: true };
            const made = table({ caption: "t", rows, rowsMax: 5, columns: [column] });
            document.body.append(made.element);
            made.element.querySelector(".sorter").click();
            return [...made.element.querySelectorAll("td")].map((cell) => cell.textContent);
        }"""
    )
    assert rows == ["49", "48", "47", "46", "45"]


def test_a_request_is_left_for_the_list_it_was_found_in(watched: Watched, fleet: Example) -> None:
    pool = stored(fleet, pool="cpu")
    page = watched.open("requests?mode=stored&pool=cpu&span=24h")
    rows = page.locator("main table tbody tr")
    expect(rows).to_have_count(len(pool))
    for leave in (lambda: page.keyboard.press("Escape"), lambda: page.get_by_role("link", name="Back to").click()):
        rows.first.locator("a.request-id").click()
        expect(page.locator("main h1")).to_contain_text("Request req_")
        expect(page.locator(".detail")).to_contain_text("smollm2-135m")
        leave()
        expect(page.locator("main h1")).to_have_text("Requests")
        expect(rows).to_have_count(len(pool))
        assert "pool=cpu" in page.url


def test_a_conversation_is_there_when_somebody_comes_back_to_it(watched: Watched) -> None:
    page = watched.open("playground?on=llama-3.1-8b@h100&max_tokens=12")
    expect(page.locator(".column select")).to_have_value("llama-3.1-8b@h100")
    page.get_by_label("Prompt", exact=True).fill("Remember this question.")
    page.get_by_role("button", name="Send").click()
    placed = page.locator(".placed")
    expect(placed).to_contain_text("12 tokens")
    expect(placed).to_contain_text("Why there: ")
    expect(placed).not_to_contain_text(re.compile(r"\w_\w|ttft="))
    answer = page.locator("[data-role=assistant]").inner_text()
    placed.get_by_role("link", name="Why it went there").click()
    expect(page.locator("main h1")).to_contain_text("Request")
    page.go_back()
    expect(page.locator("[data-role=user]")).to_have_text("Remember this question.")
    expect(page.locator("[data-role=assistant]")).to_have_text(answer)


def test_the_playground_begins_with_a_model_that_answers(watched: Watched) -> None:
    page = watched.open("playground")
    expect(page.locator(".column").first.locator("select")).to_have_value("llama-3.1-8b")
    offered = page.evaluate(
        """async () => {
            const { chatColumn } = await import("/static/views/playground_column.js");
            const column = chatColumn({ target: "", place: 0, onTarget() {}, onClose() {} });
            column.offer([
                { model: "all-minilm", pool: "embeddings", purpose: "embed" },
                { model: "smollm2", pool: "chat", purpose: "generate" },
                { model: "zephyr", pool: "remote", purpose: null },
            ]);
            return [column.target, ...[...column.element.querySelectorAll("option")].map((one) => one.value)];
        }"""
    )
    assert offered == ["smollm2", "smollm2", "smollm2@chat", "zephyr", "zephyr@remote"]


def test_a_rehearsal_begins_with_what_the_model_promises(watched: Watched) -> None:
    page = watched.open("money")
    page.get_by_label("Model", exact=True).select_option("llama-3.1-8b")
    expect(page.get_by_label("TTFT within, ms")).to_have_value("500")
    expect(page.get_by_label("ITL within, ms")).to_have_value("50")
    page.get_by_label("TTFT within, ms").fill("321")
    page.get_by_label("Model", exact=True).select_option("smollm2-135m")
    expect(page.get_by_label("TTFT within, ms")).to_have_value("321")


@pytest.mark.parametrize("hardware", ["l4", "h100-sxm"])
def test_what_a_chip_lacks_is_drawn_as_large_as_it_is(watched: Watched, hardware: str) -> None:
    page = watched.open(f"plan?asked=memory&model=llama-3.3-70b&hardware={hardware}")
    share = page.locator(".answer .share").first
    expect(share).to_contain_text("lacking")
    said = {name: size_of(share, name) for name in ("weights", "activations", "overhead", "keys and values", "lacking")}
    lacking = width_of(share, "lacking")
    chip_bytes = said["lacking"] * (1 / lacking - 1)
    needed = sum(said[name] for name in said if name != "lacking")
    assert needed + size_of(share, "not claimed by the engine") - chip_bytes == pytest.approx(said["lacking"], rel=0.02)


def test_the_forecast_starts_from_present_demand(watched: Watched, fleet: Example) -> None:
    def model() -> dict[str, Any]:
        return next(one for one in asked(fleet, "/admin/capacity")["models"] if one["model"] == "llama-3.1-8b")

    for _ in range(20):
        with fleet.ask(max_tokens=2) as answer:
            answer.read()
    room = model()
    assert room["requests_per_s"] > 0
    assert room["forecast"][0]["requests_per_s"] == pytest.approx(room["requests_per_s"])
    page = watched.open("capacity")
    legend = page.locator(".forecast .chart-legend").first
    expect(legend).to_contain_text("expected")
    expect(legend).to_have_attribute("data-when", "now")


def test_a_forecast_without_a_record_makes_nothing_green(watched: Watched) -> None:
    page = watched.open("fleet")
    tones = page.evaluate(
        """async () => {
            const { fullWords } = await import("/static/views/capacity_words.js");
            const room = (more) => ({
                full_at: null, load: 0.1, requests_per_s: 1, headroom_requests_per_s: 9, pools: [],
                forecast: [{ at: 1794000000, requests_per_s: 1, low: 0.5, high: 2 }], is_forecast_credible: true,
                ...more,
            });
            const wide = [{ at: 1794000000, requests_per_s: 1, low: 0.1, high: 30 }];
            return [room({}), room({ is_forecast_credible: false }), room({ forecast: wide }), room({ forecast: [] })]
                .map((one) => fullWords(one).tone);
        }"""
    )
    assert tones == ["good", "unknown", "warn", "unknown"]


def asked(fleet: Example, path: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{fleet.console_url}{path}", timeout=30) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def swatch(page: Page, name: str) -> str:
    """The colour beside a name in the first legend that has it."""
    line = page.locator(".chart-legend li", has=page.get_by_role("button", name=name, exact=True)).first
    expect(line).to_be_visible()
    return str(line.locator(".swatch").evaluate("(one) => getComputedStyle(one).backgroundColor"))


def size_of(share: Locator, name: str) -> float:
    [text] = [one for one in share.locator("li").all_inner_texts() if one.strip().startswith(name)]
    number, unit = text.strip().removeprefix(name).split()
    return float(number) * SIZES[unit]


def width_of(share: Locator, name: str) -> float:
    piece = share.locator(f".share-part[title^='{name}']")
    return float(piece.evaluate("(one) => parseFloat(one.style.width)")) / 100
