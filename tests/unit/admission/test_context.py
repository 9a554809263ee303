"""What can be told of a context at the door."""

import msgspec
import pytest

from heterodyne.admission.context import check_context
from heterodyne.domain.errors import ContextExceeded, InvalidField
from heterodyne.domain.request import Operation, Request

REQUEST = Request(id="1", operation=Operation.COMPLETION, model="m", body=b"")


def changed(**fields: object) -> Request:
    return msgspec.structs.replace(REQUEST, **fields)


def test_what_fits_or_cannot_be_counted_passes() -> None:
    for request in (REQUEST, changed(output_tokens_max=100), changed(prompt_tokens=100), changed(prompt_chars=10**9)):
        check_context(request, 100)


def test_more_output_than_context_is_the_fault_of_max_tokens() -> None:
    with pytest.raises(InvalidField, match=r"101 tokens .* 100 tokens") as caught:
        check_context(changed(output_tokens_max=101), 100)
    assert caught.value.param == "max_tokens"


def test_more_prompt_than_context_names_both_numbers() -> None:
    with pytest.raises(ContextExceeded, match=r"101 tokens; .* 100 tokens") as caught:
        check_context(changed(prompt_tokens=101), 100)
    assert caught.value.param == "prompt"


def test_inputs_to_embed_are_many_and_not_one_prompt() -> None:
    check_context(changed(operation=Operation.EMBEDDING, prompt_tokens=1000), 100)
