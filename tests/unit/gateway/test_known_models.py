"""Which names an error or a list may tell a caller."""

import pytest

from heterodyne.admission.callers import LOCAL, STRANGER
from heterodyne.domain.errors import NotAllowed
from heterodyne.domain.fleet import FleetSnapshot, ModelRule
from heterodyne.domain.tenant import Scopes
from heterodyne.gateway.known_models import check_visible, is_visible, no_such_model
from tests.support.replica_states import replica
from tests.support.tenants import caller

FLEET = FleetSnapshot.of(
    1,
    (replica("a", model="llama"), replica("b", model="secret-llama", adapters={"law": None})),
    {"secret-llama": ModelRule(aliases=("llama-x",))},
)
SCOPED = caller(scopes=(Scopes(models=("llama*",)),))


def test_a_name_nobody_serves_is_answered_with_the_nearest_and_the_known() -> None:
    message = no_such_model("lama", LOCAL, FLEET).message
    assert message.endswith("Did you mean 'llama'? Known models: llama, secret-llama, llama-x, law.")


def test_a_404_lists_only_models_that_the_key_may_use() -> None:
    message = no_such_model("llama-secret", SCOPED, FLEET).message
    assert message.endswith("Known models: llama, llama-x.")
    assert "secret-llama" not in message, "not as the nearest either"


def test_a_key_that_may_use_nothing_is_told_no_name() -> None:
    assert no_such_model("llama", STRANGER, FLEET).message == "The model 'llama' does not exist."


def test_of_very_many_models_some_are_named() -> None:
    many = FleetSnapshot.of(1, tuple(replica(f"r{i}", model=f"model-{i}") for i in range(50)))
    assert no_such_model("x", LOCAL, many).message.endswith("model-19, ….")


@pytest.mark.parametrize("name", ["secret-llama", "law", "no-such-model"])
def test_what_is_there_and_what_is_not_are_refused_alike(name: str) -> None:
    with pytest.raises(NotAllowed, match=rf"^This key may not use the model '{name}'\.$"):
        check_visible(name, SCOPED)
    assert is_visible("llama-x", SCOPED)
