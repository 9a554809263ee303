"""The bytes of openings, endings and records."""

from math import nan

import msgspec
import pytest
from msgspec.structs import astuple

from heterodyne.books.encoding import (
    COUNT_MAX,
    ENDING_BYTES_MAX,
    ID_BYTES_MAX,
    OPENING_BYTES_MAX,
    REASON_BYTES_MAX,
    TERMS_BYTES_MAX,
    OpeningForm,
    countable_block,
    decode_open,
    decode_record,
    encode_batch,
    encode_ending,
    encode_finished,
    encode_open,
    encode_opening,
    encode_terms,
)
from heterodyne.domain.record_block import RecordBlock, join_encoded
from heterodyne.domain.usage import FlightTerms
from tests.support.usage_records import ending, opening, record

LONGEST = {"organisation": "o" * 63, "project": "p" * 127, "key": "k" * 40, "model": "ß" * 5000, "pool": "x" * 900}


def test_a_record_is_its_opening_and_its_ending() -> None:
    assert decode_record(encode_opening(opening()) + encode_ending(ending())) == record()


def test_an_open_flight_is_its_opening_and_its_terms() -> None:
    terms = FlightTerms(prompt_tokens=5, usd_per_hour=2.5)
    flight = decode_open(encode_open(encode_opening(opening()), encode_terms(terms)))
    assert (flight.opening, flight.terms) == (opening(), terms)


@pytest.mark.parametrize("names", [{}, {"model": "ß" * 100, "replica": ""}, LONGEST])
@pytest.mark.parametrize("request_id", ["", "req_1", "r" * 31, "r" * 32, "r" * ID_BYTES_MAX])
def test_a_form_that_is_filled_is_the_opening(names: dict[str, str], request_id: str) -> None:
    form = OpeningForm(opening(5, **names))
    for at in (0.0, 1_793_534_400.25):
        assert form.fill(request_id, at) == encode_opening(opening(**names, id=request_id, at=at))


def test_an_ending_of_values_is_the_ending() -> None:
    for one in (ending(), ending(10**30, prompt_tokens=-5), ending(reason="r" * 3000, ttft_ms=1.5, is_hedged=True)):
        assert encode_ending(astuple(one)) == encode_ending(one)
    with pytest.raises(ValueError, match="shorter"):
        encode_ending((200, "r" * 3000))


def test_everything_fits_whatever_is_claimed() -> None:
    number = 2**63
    worst = ending(
        number,
        status=number,
        reason="ß" * 3000,
        prompt_tokens=10**30,
        cached_tokens=number,
        reasoning_tokens=number,
        queue_ms=1.5,
        ttft_ms=1.5,
        itl_ms=1.5,
        predicted_ttft_ms=1.5,
        predicted_itl_ms=1.5,
        usd_micro=number,
        retries=number,
        continuations=number,
        replica_s=1.5,
    )
    assert len(encode_ending(worst)) <= ENDING_BYTES_MAX
    assert len(encode_opening(opening(**LONGEST))) <= OPENING_BYTES_MAX
    assert len(OpeningForm(opening(**LONGEST)).fill("r" * ID_BYTES_MAX, 1.5)) <= OPENING_BYTES_MAX
    terms = {name: number if name == "prompt_tokens" else 1.5 for name in FlightTerms.__struct_fields__}
    assert len(encode_terms(FlightTerms(**terms))) == TERMS_BYTES_MAX
    found = decode_record(encode_finished(encode_opening(opening(**LONGEST)), worst))
    assert (found.prompt_tokens, found.usd_micro, found.completion_tokens) == (COUNT_MAX, COUNT_MAX, COUNT_MAX)
    assert found.reason == "ß" * (REASON_BYTES_MAX // 2)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"prompt_tokens": -1}, {"prompt_tokens": 0}),
        ({"retries": 2**60}, {"retries": COUNT_MAX}),
        ({"usd_micro": COUNT_MAX, "cached_tokens": 1}, {"usd_micro": COUNT_MAX, "cached_tokens": 1}),
        ({"replica_s": nan}, {"replica_s": 0.0}),
        ({"replica_s": -0.5, "continuations": -2}, {"replica_s": 0.0, "continuations": 0}),
    ],
)
def test_numbers_that_no_store_holds_become_the_nearest_that_one_does(
    said: dict[str, float], kept: dict[str, float]
) -> None:
    encoded = [encode_finished(encode_opening(opening()), one) for one in (ending(), ending(**said), ending())]
    block = RecordBlock.read(join_encoded(encoded))
    assert list(countable_block(block)) == [record(), record(**kept), record()]
    openings = [(one, len(encode_opening(opening()))) for one in encoded]
    assert list(countable_block(RecordBlock.read(encode_batch(openings)))) == [record(), record(**kept), record()]
    assert decode_record(encoded[1]) == record(**kept)


def test_other_bytes_are_no_records() -> None:
    whole = encode_finished(encode_opening(opening()), ending())
    with pytest.raises(msgspec.DecodeError):
        decode_record(whole[:-1])
    with pytest.raises(msgspec.DecodeError):
        decode_open(b"")
