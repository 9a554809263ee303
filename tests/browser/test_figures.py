"""What stands on the page is what the request records of the same window add up to, in the page's own words."""

import re
import urllib.parse
from math import ceil

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watched
from tests.browser.test_acting import stored
from tests.support.mixed_fleet import Example

BUCKET = 0.03  # percentiles are kept no finer


def test_the_table_of_percentiles_is_that_of_the_records(watched: Watched, fleet: Example) -> None:
    records = [one for one in stored(fleet, pool="h200", limit="1000", since_at=str(since(fleet))) if one["ttft_ms"]]
    span = f"{since(fleet)}-{since(fleet) + 7200}"
    page = watched.open(f"latency?span={urllib.parse.quote(span)}&pool=h200")
    cells = row_of(page, "h200")
    assert cells[1] == f"{len(records):,}"
    times_ms = sorted(float(str(one["ttft_ms"])) for one in records)
    for place, share in ((3, 0.5), (4, 0.9), (5, 0.99)):
        true_ms = times_ms[ceil(share * len(times_ms)) - 1]
        assert abs(milliseconds(cells[place]) / true_ms - 1) < BUCKET + 0.02, "and the page rounds"


def test_a_tenants_row_is_that_of_its_records(watched: Watched, fleet: Example) -> None:
    mine = stored(fleet, project="local/local", limit="1000")
    page = watched.open("tenants")
    expect(page.locator("main table").first).to_contain_text("local/local")
    row = page.locator("main table tbody tr", has_text="local/local").first.inner_text()
    assert str(len(mine)) in re.split(r"\s+", row)


def since(example: Example) -> int:
    """The beginning of the minute before the first request of now."""
    first = min(float(str(one["at"])) for one in stored(example, project="local/local", limit="1000"))
    return int(first // 60 * 60) - 3600


def row_of(page: Page, name: str) -> list[str]:
    row = page.locator("main table tbody tr", has_text=name).first
    expect(row).to_be_visible()
    return [text.strip() for text in row.locator("th, td").all_inner_texts()]


def milliseconds(said: str) -> float:
    number, unit = said.split()
    return float(number) * {"ms": 1.0, "s": 1000.0}[unit]
