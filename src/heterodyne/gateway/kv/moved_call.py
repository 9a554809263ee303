"""The call that was made for one replica, for another of the same model and engine."""

import msgspec

from heterodyne.domain.fleet import Replica
from heterodyne.engines.json_edit import put
from heterodyne.ports.engine_request import EngineRequest


def moved_call(call: EngineRequest, made_for: Replica, other: Replica) -> EngineRequest:
    """Only the path and the model's name can differ."""
    path = other.base_path + call.path.removeprefix(made_for.base_path)
    name = other.engine_model or other.model
    if name == (made_for.engine_model or made_for.model):
        return EngineRequest(path, call.body, call.not_carried)
    return EngineRequest(path, put(call.body, {"model": msgspec.json.encode(name)}), call.not_carried)
