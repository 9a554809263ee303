"""Texts as tokens, without a tokenizer's program."""

from pathlib import Path

import pytest

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.registry.reference.texts import TEXTS, read_texts
from heterodyne.registry.tokenizers.document import read_document
from heterodyne.registry.tokenizers.text_tokens import tokens_of_texts
from tests.support.tiny_models import VOCABULARY, tiny_model


def test_the_longest_token_that_fits_is_taken(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "m", "llama")
    vocabulary = read_document(folder).model.vocab
    (found,) = tokens_of_texts(folder, VOCABULARY, ["the th t"], 10)
    assert found == [vocabulary[text] for text in ("the", "Ġ", "th", "Ġ", "t")]


def test_what_no_piece_has_comes_as_bytes(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "m", "gemma")
    vocabulary = read_document(folder).model.vocab
    (found,) = tokens_of_texts(folder, VOCABULARY, ["ab é"], 10)
    assert found[-4:] == [vocabulary[text] for text in ("\u2581ab", "\u2581", "<0xC3>", "<0xA9>")]


def test_texts_are_cut_and_those_of_one_token_left_out(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "m", "llama")
    assert [len(one) for one in tokens_of_texts(folder, VOCABULARY, [*TEXTS, "", "a"], 30)] == [30] * len(TEXTS)


def test_texts_of_a_file_are_its_lines(tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("one\n\n two \n")
    assert read_texts(tmp_path / "texts") == ("one", " two ")
    assert read_texts(None) is TEXTS
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(SettingsInvalid, match="empty: has no text"):
        read_texts(tmp_path / "empty")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsInvalid, match="binary: is not text in UTF-8"):
        read_texts(tmp_path / "binary")
