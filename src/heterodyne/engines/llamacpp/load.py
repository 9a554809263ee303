"""llama.cpp's load: its metrics page with `--metrics`, else its slots. Neither says how full its KV memory is."""

import msgspec

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.prometheus_page import count, read_page

RUNNING, WAITING = "llamacpp:requests_processing", "llamacpp:requests_deferred"
COMPUTED, CACHED = "llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"
OUTPUT = "llamacpp:tokens_predicted_total"
NAMES = (RUNNING, WAITING, COMPUTED, CACHED, OUTPUT)


class _Slot(msgspec.Struct):
    is_processing: bool
    n_ctx: int | None = None


_decode_slots = msgspec.json.Decoder(list[_Slot]).decode


def read_metrics(body: bytes) -> EngineLoad:
    """It counts computed and cached prompt tokens apart; older ones count no cached ones."""
    page = read_page(body, NAMES)
    computed, cached = page.total(COMPUTED), page.total(CACHED)
    return EngineLoad(
        running=count(page.total(RUNNING)),
        waiting=count(page.total(WAITING)),
        prefix_query_tokens=None if computed is None or cached is None else computed + cached,
        prefix_hit_tokens=cached,
        prompt_tokens=computed,
        output_tokens=page.total(OUTPUT),
    )


def read_slots(body: bytes) -> EngineLoad:
    """Who waits for a slot is not said."""
    try:
        slots = _decode_slots(body)
    except (ValueError, RecursionError) as error:
        raise EngineGarbage(f"The list of slots has not the promised form: {error}.") from error
    contexts = [slot.n_ctx for slot in slots if slot.n_ctx]
    return EngineLoad(running=sum(slot.is_processing for slot in slots), context_tokens=min(contexts, default=None))
