"""What a key may be used for."""

import pytest
from msgspec import structs

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.scopes import allowed_regions, check_scopes, check_sizes, output_tokens_left, visible
from heterodyne.domain.errors import NotAllowed
from heterodyne.domain.operation import Operation
from heterodyne.domain.tenant import Caller, Scopes
from heterodyne.domain.urgency import Urgency


def caller(*scopes: Scopes) -> Caller:
    return structs.replace(LOCAL, scopes=scopes)


def ask(
    who: Caller, operation: Operation = Operation.CHAT, model: str = "chat", urgency: Urgency = Urgency.INTERACTIVE
) -> None:
    check_scopes(who, operation, model, urgency)


def ask_for(who: Caller, prompt_tokens: int = 0, output_tokens_max: int | None = None, sequences: int = 1) -> None:
    check_sizes(who, prompt_tokens=prompt_tokens, output_tokens_max=output_tokens_max, sequences=sequences)


def test_without_scopes_everything_is_allowed() -> None:
    ask(caller(), model="anything")
    ask_for(caller(), prompt_tokens=10**9, output_tokens_max=10**9)
    ask(caller(Scopes()), model="anything")


@pytest.mark.parametrize("model", ["chat", "small-1", "small-"])
def test_a_model_is_allowed_by_name_or_by_its_beginning(model: str) -> None:
    ask(caller(Scopes(models=("chat", "small-*"))), model=model)


@pytest.mark.parametrize("model", ["chat2", "cha", "small", "large", "", "*", "CHAT"])
def test_any_other_model_is_not(model: str) -> None:
    with pytest.raises(NotAllowed, match="may not use the model") as refused:
        ask(caller(Scopes(models=("chat", "small-*"))), model=model)
    assert (refused.value.status, refused.value.param) == (403, "model")


def test_an_empty_list_allows_nothing() -> None:
    with pytest.raises(NotAllowed):
        ask(caller(Scopes(models=())))
    assert visible(caller(Scopes(models=())), ["chat"]) == []


def test_operations_and_classes_are_named_in_the_refusal() -> None:
    ask(caller(Scopes(operations=(Operation.CHAT,), classes=(Urgency.INTERACTIVE,))))
    with pytest.raises(NotAllowed, match="ask for embedding"):
        ask(caller(Scopes(operations=(Operation.CHAT,))), operation=Operation.EMBEDDING)
    with pytest.raises(NotAllowed, match="class interactive"):
        ask(caller(Scopes(classes=(Urgency.BATCH,))))


def test_whoever_may_have_tokens_may_have_their_number() -> None:
    urgency = Urgency.INTERACTIVE
    check_scopes(caller(Scopes(operations=(Operation.TOKENIZE,))), Operation.COUNT, "m", urgency)
    check_scopes(caller(Scopes(operations=(Operation.COUNT,))), Operation.COUNT, "m", urgency)
    with pytest.raises(NotAllowed, match="count"):
        check_scopes(caller(Scopes(operations=(Operation.CHAT,))), Operation.COUNT, "m", urgency)
    with pytest.raises(NotAllowed, match="tokenize"):
        check_scopes(caller(Scopes(operations=(Operation.COUNT,))), Operation.TOKENIZE, "m", urgency)


def test_sizes_are_allowed_up_to_the_limit() -> None:
    who = caller(Scopes(output_tokens_max=100, context_tokens_max=1000))
    ask_for(who, prompt_tokens=900, output_tokens_max=100)
    ask_for(who, prompt_tokens=1000)
    with pytest.raises(NotAllowed, match="at most 100 tokens, not 101"):
        ask_for(who, output_tokens_max=101)
    with pytest.raises(NotAllowed, match="at most 1000 tokens of context; prompt and answer would be 1001"):
        ask_for(who, prompt_tokens=901, output_tokens_max=100)


def test_the_key_and_its_project_must_both_allow() -> None:
    who = caller(Scopes(models=("a", "b"), output_tokens_max=50), Scopes(models=("b", "c"), output_tokens_max=70))
    ask(who, model="b")
    for model in ("a", "c"):
        with pytest.raises(NotAllowed):
            ask(who, model=model)
    assert visible(who, ["a", "b", "c"]) == ["b"]
    assert output_tokens_left(who, 0, 1) == 50


def test_regions_are_what_every_scope_allows() -> None:
    assert allowed_regions(caller()) is None
    assert allowed_regions(caller(Scopes(models=("a",)))) is None
    assert allowed_regions(caller(Scopes(regions=("eu", "us")), Scopes(regions=("eu", "asia")))) == {"eu"}
    assert allowed_regions(caller(Scopes(regions=("eu",)), Scopes(regions=("us",)))) == frozenset()


def test_only_allowed_models_are_seen_in_the_order_they_came() -> None:
    names = ["small-2", "large", "small-1"]
    assert visible(caller(), names) == names
    assert visible(caller(Scopes(models=("small-*",))), names) == ["small-2", "small-1"]


def test_no_limit_on_answers_is_none() -> None:
    assert output_tokens_left(caller(Scopes(models=("a",))), 10, 1) is None


def test_sizes_are_of_all_answers_of_a_request_together() -> None:
    who = caller(Scopes(output_tokens_max=100, context_tokens_max=1000))
    ask_for(who, output_tokens_max=25, sequences=4)
    with pytest.raises(NotAllowed, match=r"not 104 \(4 answers of 26\)"):
        ask_for(who, output_tokens_max=26, sequences=4)
    with pytest.raises(NotAllowed, match="prompt and answer would be 1001"):
        ask_for(who, prompt_tokens=951, output_tokens_max=25, sequences=2)


def test_what_the_scopes_leave_is_shared_out_among_the_answers() -> None:
    who = caller(Scopes(output_tokens_max=100), Scopes(context_tokens_max=1000))
    assert output_tokens_left(who, 10, 1) == 100
    assert output_tokens_left(who, 10, 3) == 33
    assert output_tokens_left(who, 940, 3) == 20
    with pytest.raises(NotAllowed, match=r"100 more tokens .* 101 answers") as refused:
        output_tokens_left(who, 10, 101)
    assert refused.value.param == "n"
    with pytest.raises(NotAllowed, match=r"0 more tokens .* 1 answer was"):
        output_tokens_left(who, 1000, 1)
