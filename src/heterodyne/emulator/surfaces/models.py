"""`/v1/models`, which all engines share."""

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.response import EmulatorResponse, json_response
from heterodyne.emulator.surface import EmulatorEndpoint
from heterodyne.wire.message import HttpRequest


def models(owner: str) -> EmulatorEndpoint:
    """The served model, then its adapters."""

    def page(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
        order = engine.order
        base = {
            "id": order.served_model,
            "object": "model",
            "created": int(engine.started_at_s),
            "owned_by": owner,
            "root": order.layout.model.name,
            "parent": None,
            "max_model_len": order.context_tokens,
        }
        adapters = [
            {**base, "id": adapter.name, "root": adapter.path, "parent": order.served_model}
            for adapter in engine.adapters.loaded
        ]
        return json_response({"object": "list", "data": [base, *adapters]})

    return page
