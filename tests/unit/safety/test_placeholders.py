"""Masking and the way back."""

from heterodyne.safety.finding import Finding
from heterodyne.safety.placeholders import Masker, StreamRestorer, mask


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
    masker = Masker()
    masker.read("not <EMAIL_2>")
    words = [masker.word("email", value) for value in ("a@b.c", "d@e.f", "a@b.c")]
    assert words == ["<EMAIL_1>", "<EMAIL_3>", "<EMAIL_1>"]
    assert masker.values == {"<EMAIL_1>": "a@b.c", "<EMAIL_3>": "d@e.f"}


def test_a_value_within_json_does_not_end_its_string():
    _, placeholders = mask('a "b"', [Finding(start=0, end=5, rule="name")])
    assert placeholders.escaped.restore('{"to": "<NAME_1>"}') == '{"to": "a \\"b\\""}'


def test_what_a_client_was_sent_is_hidden_again():
    _, placeholders = mask("a@b.c", [Finding(start=0, end=5, rule="email")])
    assert placeholders.hide("I wrote to a@b.c, and") == "I wrote to <EMAIL_1>, and"


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
