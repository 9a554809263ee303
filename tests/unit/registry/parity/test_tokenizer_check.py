"""Whether two artifacts cut texts alike, by their tables."""

from pathlib import Path

import pytest

from heterodyne.registry.parity.tokenizer_check import tokenizer_difference, tokenizer_of
from heterodyne.registry.tokenizers.convert import PREFIX
from tests.support.tiny_models import VOCABULARY, tiny_model


@pytest.fixture(scope="module")
def fields(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return dict(tokenizer_of(tiny_model(tmp_path_factory.mktemp("tokenizer") / "m"), VOCABULARY))


def test_a_tokenizer_is_like_itself(fields: dict[str, object]) -> None:
    assert tokenizer_difference(fields, dict(fields)) is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (PREFIX + "merges", ["t h", "x y"], "number 1 of the tokenizer's merges is 'x y', expected 'th e'"),
        (PREFIX + "merges", ["t h"], "the tokenizer has 1 merges, expected 2"),
        (PREFIX + "tokens", None, "the tokenizer has no tokens"),
        (PREFIX + "pre", "gpt-2", "the tokenizer's pre is 'gpt-2', expected 'smollm'"),
        (PREFIX + "eos_token_id", 5, "the tokenizer's eos_token_id is 5, expected 0"),
        ("tokenizer.chat_template", "{{ x }}", "the chat template is another one"),
    ],
)
def test_the_first_difference_is_named(fields: dict[str, object], name: str, value: object, said: str) -> None:
    assert tokenizer_difference(fields, fields | {name: value}) == said


def test_what_a_file_leaves_to_the_engine_is_no_difference(fields: dict[str, object]) -> None:
    without = {name: value for name, value in fields.items() if not name.startswith(PREFIX + "add_")}
    assert tokenizer_difference(fields, without) is None


def test_the_other_model_s_tokenizer_is_another(tmp_path: Path, fields: dict[str, object]) -> None:
    other = tokenizer_of(tiny_model(tmp_path / "m", "gemma"), VOCABULARY)
    assert tokenizer_difference(fields, other) is not None
