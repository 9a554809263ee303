"""What `explain` shows, and what it says before it has asked."""

import pytest

from heterodyne.cli.explain.decision_table import (
    HEADER,
    LATEST_HEADER,
    asked_in_words,
    latest_row,
    number_in_words,
    outcome_rows,
    table_rows,
    usd_in_words,
)
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.explanation.explanation import (
    Candidate,
    CandidateVerdict,
    ExplainedRequest,
    Explanation,
    PredictedRange,
    SloOutlook,
)

ASKED = ExplainedRequest(
    model="m",
    policy="cost",
    urgency=Urgency.INTERACTIVE,
    prompt_tokens=2000,
    output_tokens=256.0,
    slo_ttft_ms=500.0,
    slo_itl_ms=None,
)
ROW = Candidate(
    replica="h100-0",
    pool="h100",
    hardware="h100-sxm",
    tp=2,
    region=None,
    ttft=PredictedRange(ms=123.4, low_ms=90.0, high_ms=180.0),
    itl=PredictedRange(ms=8.12, low_ms=7.0, high_ms=9.5),
    wait_ms=0.0,
    load=0.42,
    cached_tokens=512,
    usd=0.0000645,
    usd_per_million_tokens=0.0286,
    risk=0.01,
    promise=SloOutlook.KEPT,
    verdict=CandidateVerdict.CHOSEN,
    reason="the cheapest",
)
TOLD = Explanation(asked=ASKED, candidates=(ROW,), reason=None, conclusion="h100-0: the cheapest.")
RECORD = RequestRecord(
    id="req_1",
    at=0.0,
    operation="chat",
    model="m",
    replica="h100-0",
    status=200,
    stream=True,
    prompt_tokens=1990,
    completion_tokens=300,
    ttft_ms=130.2,
    itl_ms=8.3,
    total_ms=2600.0,
    decision="only_pool",
    predicted_ttft_ms=123.4,
)


def test_a_replica_is_one_line() -> None:
    assert dict(zip(HEADER, table_rows(TOLD)[0], strict=True)) == {
        "REPLICA": "h100-0",
        "HARDWARE": "2 x h100-sxm",
        "REGION": "-",
        "TTFT ms": "123 (90-180)",
        "ITL ms": "8.12 (7-9.5)",
        "WAIT ms": "0",
        "LOAD": "42%",
        "CACHED": "512",
        "$ REQUEST": "0.0000645",
        "$/1M": "0.0286",
        "PROMISE": "keeps it",
        "DECISION": "chosen",
        "WHY": "the cheapest",
    }


def test_what_was_asked_is_one_line() -> None:
    assert asked_in_words(ASKED) == (
        "m: policy cost, interactive, 2000 prompt tokens, 256 expected, promised TTFT 500 ms"
    )


def test_what_was_predicted_stands_beside_what_was() -> None:
    rows = {name: (predicted, actual) for name, predicted, actual in outcome_rows(TOLD, RECORD)}
    assert rows["TTFT ms"] == ("123 (90-180)", "130")
    assert rows["ITL ms"] == ("8.12 (7-9.5)", "8.3")
    assert rows["answer tokens"] == ("256", "300")
    assert rows["status"] == ("", "200")


def test_of_the_latest_requests_each_is_one_line() -> None:
    line = latest_row(RECORD)
    assert len(line) == len(LATEST_HEADER)
    assert line[:6] == ["00:00:00.000", "req_1", "m", "h100-0", "only pool", "200"]


@pytest.mark.parametrize(
    ("usd", "words"), [(None, "-"), (0.0, "0"), (0.00000123, "0.00000123"), (0.5, "0.500"), (12.3, "12.30")]
)
def test_dollars_have_no_exponent(usd: float | None, words: str) -> None:
    assert usd_in_words(usd) == words


@pytest.mark.parametrize(
    ("value", "words"), [(None, "-"), (0.0, "0"), (5.432, "5.43"), (99.7, "100"), (53431.2, "53431")]
)
def test_milliseconds_have_no_more_digits_than_they_are_good_for(value: float | None, words: str) -> None:
    assert number_in_words(value) == words


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--model", "m", "--request", "req_1"),
        ("--request", "req_1", "--latest", "3"),
        ("--latest", "0"),
        ("--model", "m", "--prompt-tokens", "0"),
        ("--model", "m", "--prompt-file", "nowhere.txt"),
        ("--model", "m", "--policy", "csot"),
        ("--model", "m", "--class", "bach"),
        ("--model", "m", "--api-key-env", "NOT_SET_ANYWHERE"),
    ],
)
def test_words_that_cannot_be_are_refused_before_anybody_is_asked(run, words: tuple[str, ...]) -> None:
    result = run("explain", *words, "--url", "http://127.0.0.1:1")
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


def test_a_prompt_has_one_length(run, tmp_path) -> None:
    (tmp_path / "prompt.txt").write_text("hello")
    result = run("explain", "--model", "m", "--prompt-file", "prompt.txt", "--prompt-tokens", "5")
    assert result.exit_code == 2
    assert "either" in result.stderr


def test_nobody_there_is_said_with_what_to_try(run) -> None:
    result = run("explain", "--model", "m", "--url", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "heterodyne serve" in result.stderr
