"""What counts as the output that a page shows."""

from tests.docs.alike import missing

TABLE = "POOL  REPLICA  STATE\nh100  h100-0   ready\n"


def test_figures_and_ids_and_the_replica_that_won_may_differ() -> None:
    shown = "h100-0: 12.3 ms, req_0593bf of 200\n"
    assert missing(shown, "h200-0:  9 ms, req_aa00 of 1,000\n") == []


def test_another_word_is_another_output() -> None:
    assert missing("200 sent, 0 failed\n", "200 sent, 0 lost\n") == ["200 sent, 0 failed"]


def test_a_table_has_its_header_and_its_rows() -> None:
    assert missing(TABLE, "POOL   REPLICA   STATE\nh100   h100-0    down\n") == []
    assert missing(TABLE, "POOL  NAME     STATE\nh100  h100-0   ready\n") == ["POOL  REPLICA  STATE"]
    assert missing(TABLE, "POOL  REPLICA  STATE\nh200  h200-0   ready\n") == ["h100  h100-0   ready"]


def test_json_has_its_keys_and_heads_their_names() -> None:
    assert missing('{"a":1,"b":2}\n', '{"b": 7, "c": 1, "a": 2}') == []
    assert missing('{"a":1,\n"b":2}\n', '{"a": 1}') == ["b"]
    assert missing("HTTP/1.1 200 OK\nx-request-id: a\n", "HTTP/1.1 200 OK\nx-request-id: b\n") == []
    assert missing("retry-after: 5\n", "x: 1\n") == ["retry-after: 5"]


def test_what_is_left_out_is_not_asked_for() -> None:
    assert missing("…\nspeed from: chip, …\n", "llama\nspeed from: chip, 1024 slots\n") == []
