"""Masking and the way back."""

from heterodyne.safety.finding import Finding
from heterodyne.safety.placeholders import StreamRestorer, mask, mask_all


def at(text: str, value: str, rule: str = "email") -> Finding:
    start = text.index(value)
    return Finding(start=start, end=start + len(value), rule=rule)


def test_equal_values_have_equal_placeholders():
    text = "a@b.c and d@e.f and a@b.c"
    findings = [at(text, "a@b.c"), at(text, "d@e.f"), Finding(start=20, end=25, rule="email")]
    masked, placeholders = mask(text, findings)
    assert masked == "<EMAIL_1> and <EMAIL_2> and <EMAIL_1>"
    assert placeholders.restore("Dear <EMAIL_2>, not <EMAIL_9>") == "Dear d@e.f, not <EMAIL_9>"


def test_a_word_that_the_text_has_already_is_not_given_out():
    text = "<EMAIL_1> is not a@b.c"
    masked, placeholders = mask(text, [at(text, "a@b.c")])
    assert masked == "<EMAIL_1> is not <EMAIL_2>"
    assert placeholders.restore(masked) == text


def test_texts_of_one_request_share_their_placeholders():
    first, second = "from a@b.c", "to d@e.f, copy a@b.c, not <EMAIL_2>"
    masked, placeholders = mask_all(
        [(first, [at(first, "a@b.c")]), (second, [at(second, "d@e.f"), at(second, "a@b.c")])]
    )
    assert masked == ["from <EMAIL_1>", "to <EMAIL_3>, copy <EMAIL_1>, not <EMAIL_2>"]
    assert [placeholders.restore(text) for text in masked] == [first, second]


def test_a_text_without_findings_stays_as_it_is():
    assert mask("plain", [])[0] == "plain"


def test_a_placeholder_that_is_split_over_chunks_is_restored():
    _, placeholders = mask("a@b.c", [Finding(start=0, end=5, rule="email")])
    restorer = StreamRestorer(placeholders)
    assert [restorer.feed(chunk) for chunk in ("Dear <EM", "AIL_", "1>, hi")] == ["Dear ", "", "a@b.c, hi"]
    assert restorer.close() == ""


def test_only_what_could_begin_a_placeholder_is_held_back():
    _, placeholders = mask("a@b.c", [Finding(start=0, end=5, rule="email")])
    restorer = StreamRestorer(placeholders)
    assert restorer.feed("1 < 2 and <b") == "1 < 2 and <b"
    assert restorer.feed("<EMAIL") == ""
    assert restorer.close() == "<EMAIL"
