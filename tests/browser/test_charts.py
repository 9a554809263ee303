"""The console's own charts: what stands on their axes, and that they are read without a mouse and without eyes."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watched

NEWS_MAX = 5  # times that the page may be given other figures while a test looks at it
TICKS = """async ([format, low, high, most]) => {
    const [formats, { roundTicks }, { tickWords }] = await Promise.all(
        ["format", "chart/ticks", "chart/tick_words"].map((name) => import(`/static/lib/${name}.js`)));
    const { step, at } = roundTicks(low, high, most);
    return at.map(tickWords(formats[format], step, high));
}"""


def test_no_two_ticks_of_an_axis_read_alike_and_all_are_in_one_unit(watched: Watched) -> None:
    page = watched.open("fleet")
    for form, units in (
        ("ms", ("ms", "s", "min", "h")),
        ("usd", ("$",)),
        ("percent", ("%",)),
        ("rate", ("", "k", "M")),
    ):
        for high in (0.0003, 0.02, 0.3, 1.0, 7.0, 42.0, 900.0, 1000.0, 61_000.0, 250_000.0, 9e6):
            words = page.evaluate(TICKS, [form, 0, high, 4])
            assert len(set(words)) == len(words) >= 3, words
            named = {word.strip("0123456789.,− ") for word in words}
            assert len(named) == 1, words
            assert named <= set(units), words


def test_ticks_of_time_are_round_and_those_of_a_logarithm_not_too_few(watched: Watched) -> None:
    page = watched.open("fleet")
    times = page.evaluate(
        "async (at) => (await import('/static/lib/chart/ticks.js')).timeTicks(at, at + 3600, 12)", 1_794_000_123
    )
    assert times["step"] == 300
    assert all(at % 300 == 0 for at in times["at"])
    for low, high in ((0.015, 1.2), (45, 170), (1, 1e6)):
        decades = page.evaluate(
            "async ([low, high]) => (await import('/static/lib/chart/ticks.js')).decadeTicks(low, high, 9)", [low, high]
        )
        assert 3 <= len(decades["at"]) <= 9, decades


def test_a_chart_is_walked_with_the_arrow_keys_and_told_in_words(watched: Watched) -> None:
    page = watched.open("latency?span=24h")
    plot = page.locator(".chart-plot").first
    expect(page.locator(".chart-legend").first).to_contain_text("h100")
    plot.focus()
    page.keyboard.press("Home")
    first = plot.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    second = plot.get_attribute("aria-valuetext")
    assert first != second
    assert "h100" in str(second)
    assert plot.get_attribute("aria-valuenow") == "1"
    expect(page.locator(".chart .unseen").first).to_contain_text("h100: latest")


def test_the_pointer_shows_the_values_of_its_place(watched: Watched) -> None:
    page = watched.open("latency?span=24h")
    plot = page.locator(".chart-plot").first
    legend = page.locator(".chart-legend").first
    expect(legend).to_have_attribute("data-when", "latest")
    box = box_of(plot)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(legend).not_to_have_attribute("data-when", "latest")
    page.mouse.move(0, 0)
    expect(legend).to_have_attribute("data-when", "latest")


def test_a_series_is_hidden_and_shown_and_the_picture_changes_with_the_theme(watched: Watched) -> None:
    page = watched.open("latency?span=24h")
    toggle = page.locator(".chart-legend").first.get_by_role("button", name="h100", exact=True)
    expect(toggle).to_have_attribute("aria-pressed", "true")
    before = picture(page)
    for _ in range(NEWS_MAX):
        hide_and_show(page, toggle, before)
        after = picture(page)
        if after == before:
            break
        before = after  # there was news meanwhile
    else:
        pytest.fail("a series that was hidden and shown again is not drawn as before")
    page.get_by_role("button", name="Dark").click()
    assert picture(page) != before


def test_twenty_thousand_points_with_gaps_are_drawn_and_so_is_nothing_at_all(watched: Watched) -> None:
    page = watched.open("fleet")
    page.evaluate(
        """async () => {
            const { lineChart } = await import("/static/lib/chart.js");
            const times = Array.from({ length: 1000 }, (_, at) => 1794000000 + at * 60);
            const values = Array.from({ length: 20 }, (_, line) =>
                times.map((_, at) => (at % 7 === line % 7 ? null : Math.sin(at / 50 + line) + 2)));
            const series = values.map((_, line) => ({ label: `line ${line}` }));
            const charts = [
                lineChart({ series, times, values, kind: "line", title: "Many" }),
                lineChart({ series: [], times: [], values: [], kind: "line", title: "None" }),
            ];
            // Not in main: a view that comes late replaces what is there.
            document.body.append(...charts.map((chart) => chart.element));
        }"""
    )
    for title, words in (("Many", "line 19: latest"), ("None", "")):
        chart = page.locator("figure.chart", has_text=title)
        expect(chart.get_by_role("slider")).to_have_attribute("aria-label", f"{title}: values")
        expect(chart.locator(".unseen")).to_contain_text(words)


def box_of(plot: Any) -> Any:
    plot.scroll_into_view_if_needed()
    return plot.bounding_box()


def hide_and_show(page: Page, toggle: Locator, before: str) -> None:
    for pressed in ("false", "true"):
        toggle.click()
        expect(toggle).to_have_attribute("aria-pressed", pressed)
        if pressed == "false":
            assert picture(page) != before


def picture(page: Page) -> str:
    return str(page.evaluate("() => document.querySelector('.chart-plot canvas').toDataURL()"))
