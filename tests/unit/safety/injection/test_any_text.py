"""Whatever a text holds, the guard answers, and its spans lie inside the text."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from heterodyne.safety.injection.detect import detect
from heterodyne.safety.injection.heuristics import find
from tests.support.examples import examples

FRAGMENTS = st.sampled_from(
    (
        "ignore all ",
        "previous instructions",
        "<|im_start|>",
        "\u200b",
        "\ud800",
        "İ",
        "忽略",
        "指令",
        "[INST]",
        "\n",
        "QUJD12" * 20,
    )
)
TEXTS = st.one_of(
    st.text(st.characters(), max_size=400),
    st.lists(st.one_of(FRAGMENTS, st.text(max_size=10)), max_size=30).map("".join),
)


@given(TEXTS)
@example("\ud800")
@example("ﷺ" * 1000)  # each is 18 characters once it is normalised
@settings(max_examples=examples(150), deadline=None)
def test_no_text_is_too_odd_and_spans_lie_inside_it(text: str) -> None:
    for found in (*find(text), *detect(text)):
        assert 0 <= found.start < found.end <= len(text) or not text
        assert 0 <= found.score <= 1
