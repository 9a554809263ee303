"""SGLang's own manners."""

import msgspec
import pytest

from heterodyne.domain.errors import EngineRefused, EngineUnavailable
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.sglang import SglangDialect
from tests.support.watches import replica

DIALECT = SglangDialect()
TARGET = replica(1, model="base", engine_model="org/base", adapters={"law": "/law"})


def request(model: str, operation: Operation = Operation.CHAT) -> Request:
    body = msgspec.json.encode({"model": model, "messages": []})
    return Request(id="r", operation=operation, model=model, body=body)


@pytest.mark.parametrize("operation", [Operation.CHAT, Operation.COMPLETION, Operation.EMBEDDING])
def test_an_adapter_is_named_beside_the_model(operation: Operation) -> None:
    call = DIALECT.call(request("law", operation), TARGET)
    assert msgspec.json.decode(call.body) == {"model": "org/base", "messages": [], "lora_path": "law"}


def test_tokens_are_the_models_whatever_the_adapter() -> None:
    call = DIALECT.call(request("law", Operation.TOKENIZE), TARGET)
    assert msgspec.json.decode(call.body) == {"model": "org/base", "messages": []}


def test_the_model_alone_goes_without() -> None:
    assert "lora_path" not in msgspec.json.decode(DIALECT.call(request("base"), TARGET).body)


def test_an_adapter_it_lacks_is_no_mistake_of_the_callers() -> None:
    body = b'{"object":"error","message":"The following requested LoRA adapters are not loaded: law\\nLoaded: []"}'
    assert isinstance(DIALECT.refusal(request("law"), 400, body), EngineUnavailable)
    assert isinstance(DIALECT.refusal(request("law"), 400, b'{"message":"temperature"}'), EngineRefused)
