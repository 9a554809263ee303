"""The wanted lines of a page, and what is said of pages that have none."""

import math

import pytest

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines import prometheus_page
from heterodyne.engines.prometheus_page import count, read_page, share

PAGE = rb"""# HELP a:running Requests.
# TYPE a:running gauge
a:running{engine="0",model="m"} 3.0
a:running{engine="1",model="m"} 4.0
# TYPE a:running_by_reason gauge
a:running_by_reason{reason="x"} 100.0
# TYPE a:share gauge
a:share{engine="0"} 0.25 1700000000000
a:share{engine="1"} NaN
# TYPE a:time histogram
a:time_bucket{le="0.5"} 1.0 # {trace_id="KOO5S4vxi0o"} 0.67
a:time_bucket{le="+Inf"} 2.0
a:time_count 2.0
a:time_sum 17.0
# TYPE a:config_info gauge
a:config_info{size="16",odd="}, \"x\" \\ {\n",blocks="100"} 1.0
bare 7
# TYPE a:tokens counter
a:tokens_total{model="m"} 1.5e+06 # {trace_id="x"} 1.0
"""


def test_label_sets_of_a_name_add_up_or_the_largest_is_taken() -> None:
    page = read_page(PAGE, ["a:running", "a:share", "bare", "a:tokens_total", "a:time_sum"])
    assert page.total("a:running") == 7.0
    assert page.largest("a:running") == 4.0
    assert page.total("bare") == 7.0
    assert page.total("a:tokens_total") == 1.5e6
    assert page.total("a:time_sum") == 17.0


def test_a_name_is_not_a_longer_one_that_begins_with_it() -> None:
    page = read_page(PAGE, ["a:running", "a:run", "a:time"])
    assert len(page.samples("a:running")) == 2
    assert page.total("a:run") is None
    assert page.total("a:time") is None
    longer_first = b'x_by_reason{a="b"} 1\nx{a="b"} 2\nx 3\nx_more 9\n'
    assert read_page(longer_first, ["x"]).total("x") == 5.0


def test_what_is_not_a_number_is_as_if_it_were_not_there() -> None:
    assert read_page(PAGE, ["a:share", "bare"]).total("a:share") == 0.25
    assert read_page(b"x NaN\ny 1\n", ["x", "y"]).total("x") is None
    assert read_page(b"x +Inf\n", ["x"]).total("x") == math.inf
    assert [count(value) for value in (math.inf, math.nan, -1.0, 2.9)] == [None, None, 0, 2]
    assert [share(value) for value in (math.inf, math.nan, -1.0, 0.5, 2.0)] == [None, None, 0.0, 0.5, 1.0]


def test_labels_may_hold_anything() -> None:
    [sample] = read_page(PAGE, ["a:config_info"]).samples("a:config_info")
    assert sample.labels == {"size": "16", "odd": '}, "x" \\ {\n', "blocks": "100"}
    assert sample.value == 1.0


def test_ranks_that_repeat_each_other_count_once() -> None:
    body = b'x{rank="0",tp="0"} 3\nx{rank="0",tp="1"} 2\nx{rank="1",tp="0"} 5\n'
    page = read_page(body, ["x"])
    assert page.total_per("rank", "x") == 8.0
    assert page.total("x") == 10.0
    assert read_page(b"x 3\n", ["x"]).total_per("rank", "x") == 3.0
    assert page.total_per("rank", "y") is None


def test_sums_of_a_histogram_with_labels_stand_apart_and_are_all_found() -> None:
    body = b'h_bucket{a="1",le="1"} 1\nh_sum{a="1"} 2\nh_count{a="1"} 1\nh_bucket{a="2",le="1"} 1\nh_sum{a="2"} 3\n'
    assert read_page(body, ["h_sum"]).total("h_sum") == 5.0


def test_older_names_stand_in_for_newer_ones() -> None:
    assert read_page(b"old 3\n", [("new", "old")]).total("new", "old") == 3.0
    both = read_page(b"old 3\nnew 4\n", [("new", "old")])
    assert (both.total("new", "old"), both.total("old")) == (4.0, None)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"<!doctype html><html>", "is HTML"),
        (b'  {"a": 1}', "is JSON"),
        (b"[]", "is JSON"),
        (b"# TYPE other gauge\nother 1\n", "has none of x, y, z, …; is it another engine's"),
        (b"x{", "labels do not end"),
        (b'x{a="b\ny 1', "labels do not end"),
        (b"x seven\n", "x that is no number"),
        (b"x{} \n", "x that is no number"),
        (b"x \n", "x that is no number"),
    ],
)
def test_a_page_that_is_none_is_named_for_what_it_is(body: bytes, words: str) -> None:
    with pytest.raises(EngineGarbage, match=words.replace("?", r"\?")):
        read_page(body, ["x", "y", "z", "w"])


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_page, "PAGE_BYTES_MAX", 10)
    with pytest.raises(EngineGarbage, match="11 bytes"):
        read_page(b"x 123456789", ["x"])
    monkeypatch.setattr(prometheus_page, "PAGE_BYTES_MAX", 1000)
    monkeypatch.setattr(prometheus_page, "SAMPLES_MAX", 2)
    with pytest.raises(EngineGarbage, match="more than 2 samples of x"):
        read_page(b'x{a="1"} 1\nx{a="2"} 1\nx{a="3"} 1\n', ["x"])
