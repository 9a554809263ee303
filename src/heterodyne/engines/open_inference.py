"""Servers of the Open Inference Protocol (KServe's v2 REST API): Triton, KServe, MLServer, OpenVINO Model Server.

Tensors as JSON pass as the bytes they came in. What such a server says of its load is on a port that cannot be guessed
(Triton's 8002, MLServer's 8082), so its load is what the gateway itself has in flight there.
"""

from urllib.parse import quote

from heterodyne.domain.engine_load import Capability, ServedModel
from heterodyne.domain.errors import EngineGarbage, EngineRefused, EngineUnavailable, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.error_answer import read_error
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.ports.engine_request import EngineRequest

UNKNOWN_MODEL = "request for unknown model"  # Triton's words, lower case; older ones say them with 400


class OpenInferenceDialect(OwnEngineDialect):
    """A list of models is an extension, asked for by POST and not there everywhere: the pool's model is believed."""

    name = "open_inference"
    health_path = "/v2/health/ready"
    client_fields: frozenset[str] = client_fields.OPEN_INFERENCE
    models_path: str | None = None
    operations = frozenset({Operation.INFER})
    capabilities: frozenset[Capability] = frozenset()

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        """The model is in the path, by the engine's own name for it; the body does not have it."""
        if request.operation is not Operation.INFER:
            raise EngineRefused(f"The engine of this model has no {request.operation} call.", status=501)
        path = f"{replica.base_path}/v2/models/{quote(replica.engine_model or replica.model, safe='')}"
        if request.model_version is not None:
            path += f"/versions/{quote(request.model_version, safe='')}"
        return EngineRequest(path + "/infer", request.body)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        """A model that it does not have is the operator's business, a version that it does not have the caller's."""
        is_unknown = status == 404 or (status == 400 and read_error(body).message.lower().startswith(UNKNOWN_MODEL))
        if is_unknown and request.model_version is not None:
            message = f"The engine has no version {request.model_version!r} of {request.model!r}."
            return EngineRefused(message, status=404, param="version")
        if is_unknown:
            return EngineUnavailable("The engine does not know the model it was asked for; its operator has to look.")
        return super().refusal(request, status, body)

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200

    def read_models(self, body: bytes) -> tuple[ServedModel, ...]:
        raise EngineGarbage("The Open Inference Protocol has no model list.")
