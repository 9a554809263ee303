"""Text Generation Inference, now only maintained: OpenAI's API, refusals as `{"error": words, "error_type": kind}`."""

from collections.abc import Sequence

from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineRefused, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.continuation import continue_chat, continue_text
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.engines.prometheus_page import count, read_page
from heterodyne.ports.engine import DeliveredText

GENERATION_FAILED = 424
RUNNING, WAITING = "tgi_batch_current_size", "tgi_queue_size"
# Sums of histograms: it has no counters of tokens.
PROMPT, OUTPUT = "tgi_request_input_length_sum", "tgi_request_generated_tokens_sum"
NAMES = (RUNNING, WAITING, PROMPT, OUTPUT)


class TgiDialect(OwnEngineDialect):
    """Nothing on its page says how full its KV memory is. It takes `model` for an adapter's name and answers with the
    base model when it has none of that name, so `engine_model = "tgi"` is the safe setting for a pool."""

    name = "tgi"
    health_path = "/health"
    client_fields: frozenset[str] = client_fields.TGI
    load_paths: tuple[str, ...] = ("/metrics",)
    operations = frozenset({Operation.CHAT, Operation.COMPLETION})
    has_choices = False
    capabilities = frozenset(
        {
            Capability.TOOLS,
            Capability.JSON_SCHEMA,
            Capability.LOGPROBS,
            Capability.VISION,
            Capability.LORA,
            Capability.CONTINUES_ANSWERS,
        }
    )
    context_words = ("`max_new_tokens` must be <=", "`inputs` must have less than")

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        if status == GENERATION_FAILED:
            return EngineRefused("The engine failed while it generated.", status=502)
        return super().refusal(request, status, body)

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        """A last message of the assistant's is continued without further words."""
        if request.operation is Operation.CHAT:
            return continue_chat(request, delivered_text, {})
        return (
            None if request.output_tokens_max is None else continue_text(request, delivered_text, tokens_default=None)
        )

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        page = read_page(pages[0], NAMES)
        return EngineLoad(
            running=count(page.total(RUNNING)),
            waiting=count(page.total(WAITING)),
            prompt_tokens=page.total(PROMPT),
            output_tokens=page.total(OUTPUT),
        )
