"""What can be told of a context at the door."""

from typing import Any

import pytest

from heterodyne.domain.errors import ContextExceeded, InvalidField
from heterodyne.domain.fleet import Health
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.routing.context import check_context, context_wanted, contexts_of
from tests.support.replica_states import replica
from tests.support.requests_copied import changed

REQUEST = Request(id="1", operation=Operation.COMPLETION, model="m", body=b"")


def asked(**fields: object) -> Request:
    return changed(REQUEST, **fields)


def test_what_fits_or_may_fit_passes() -> None:
    for request in (REQUEST, asked(output_tokens_max=100), asked(prompt_tokens=100), asked(prompt_chars=1600)):
        check_context(request, 100)


def test_more_output_than_context_is_the_fault_of_max_tokens() -> None:
    with pytest.raises(InvalidField, match=r"101 tokens .* 100 tokens") as caught:
        check_context(asked(output_tokens_max=101), 100)
    assert caught.value.param == "max_tokens"


def test_more_prompt_than_context_names_both_numbers() -> None:
    with pytest.raises(ContextExceeded, match=r"101 tokens; .* 100 tokens") as caught:
        check_context(asked(prompt_tokens=101), 100)
    assert caught.value.param == "prompt"


def test_inputs_to_embed_are_many_and_not_one_prompt() -> None:
    check_context(asked(operation=Operation.EMBEDDING, prompt_tokens=1000), 100)


def test_a_text_that_no_tokenizer_could_make_fit_is_refused_by_its_characters() -> None:
    with pytest.raises(ContextExceeded, match=r"1601 characters; .* 100 tokens"):
        check_context(asked(prompt_chars=1601), 100)


@pytest.mark.parametrize("more", [{"prompts": 2}, {"private_fields": ("truncate_prompt_tokens",)}])
def test_what_is_several_prompts_or_is_cut_by_its_engine_is_left_to_that(more: dict[str, Any]) -> None:
    check_context(asked(prompt_chars=10**6, **more), 100)
    check_context(asked(prompt_tokens=10**6, **more), 100)


def test_a_request_wants_the_context_that_its_estimate_needs_and_the_largest_where_none_has_it() -> None:
    contexts = contexts_of([replica("a", context_tokens=100), replica("b", context_tokens=1000)])
    assert context_wanted(REQUEST, 100, contexts) == 0
    assert context_wanted(REQUEST, 101, contexts) == 101
    assert context_wanted(asked(output_tokens_max=900), 50, contexts) == 950
    assert context_wanted(asked(prompt_chars=8000), 2000, contexts) == 1000, "an estimate refuses nobody"
    with pytest.raises(ContextExceeded):
        context_wanted(asked(prompt_chars=16001), 4000, contexts)
    assert context_wanted(asked(operation=Operation.EMBEDDING, prompt_chars=10**6), 10**5, contexts) == 0


def test_a_replica_that_is_down_is_waited_for_where_only_it_is_large_enough() -> None:
    contexts = contexts_of(
        [replica("a", context_tokens=100), replica("b", context_tokens=1000, health=Health.DOWN)],
    )
    assert context_wanted(asked(prompt_chars=400), 101, contexts) == 100, "it may fit the one that is there"
    assert context_wanted(asked(prompt_chars=1601), 400, contexts) == 400, "it cannot"


def test_nobody_is_refused_where_some_replica_does_not_say_how_much_it_takes() -> None:
    contexts = contexts_of([replica("a", context_tokens=100), replica("b")])
    assert context_wanted(asked(prompt_chars=10**6), 250_000, contexts) == 250_000
