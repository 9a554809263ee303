"""llama.cpp's slots, as its server was seen to answer."""

import pytest

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.kv_transfer.slots import SlotTransfer
from heterodyne.ports.engine_request import EngineRequest

SLOTS = SlotTransfer()


def test_a_slot_is_saved_restored_and_asked_by_number() -> None:
    saved = SLOTS.save(2, "a.slot")
    assert (saved.method, saved.path, saved.body) == ("POST", "/slots/2?action=save", b'{"filename":"a.slot"}')
    assert SLOTS.restore(0, "a.slot").path == "/slots/0?action=restore"
    call = SLOTS.in_slot(EngineRequest("/v1/chat/completions", b'{"messages":[],"cache_prompt":false}', ("x",)), 3)
    assert call.body == b'{"messages":[],"cache_prompt":true,"id_slot":3}'
    assert call.not_carried == ("x",)


def test_what_was_saved_and_restored_is_read() -> None:
    body = b'{"id_slot":1,"filename":"f","n_saved":1507,"n_written":34700000,"timings":{"save_ms":56.1}}'
    saved = SLOTS.read_saved(200, body, 1)
    assert (saved.tokens, saved.byte_count) == (1507, 34_700_000)
    body = b'{"id_slot":0,"filename":"f","n_restored":1507,"n_read":34700000,"timings":{"restore_ms":30.1}}'
    assert SLOTS.read_restored(200, body, 0).tokens == 1507
    assert SLOTS.read_slots(200, b'[{"id":0,"n_ctx":512},{"id":1,"n_ctx":512}]') == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b'{"id_slot":9,"n_saved":0,"n_written":0}'),  # a slot out of range
        (200, b'{"id_slot":1,"n_saved":0,"n_written":0}'),  # an empty one
        (200, b'{"id_slot":0,"n_saved":5,"n_written":9}'),  # another one
        (200, b"<html>"),
        (501, b'{"error":{"code":501,"message":"This server does not support slots action.","type":"x"}}'),
        (400, b'{"error":{"code":400,"message":"Unable to restore slot","type":"invalid_request_error"}}'),
    ],
)
def test_answers_that_look_better_than_they_are_fail(status: int, body: bytes) -> None:
    with pytest.raises(EngineGarbage):
        SLOTS.read_saved(status, body, 1)
    with pytest.raises(EngineGarbage):
        SLOTS.read_restored(status, body, 1)


@pytest.mark.parametrize("body", [b"[]", b'[{"id":1}]', b"{}", b'[{"id":0},{"id":0}]'])
def test_a_list_of_slots_without_order_is_none(body: bytes) -> None:
    with pytest.raises(EngineGarbage):
        SLOTS.read_slots(200, body)
