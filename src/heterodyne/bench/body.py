"""The JSON body of one benchmark request."""

import msgspec

from heterodyne.bench.plan import BenchPlan
from heterodyne.domain.request import Operation


def request_body(plan: BenchPlan, prompt: str, output_tokens: int) -> bytes:
    """What an OpenAI client would send, with usage asked for at the end of a stream."""
    body: dict[str, object] = {"model": plan.model}
    if plan.operation is Operation.EMBEDDING:
        body["input"] = prompt
        return msgspec.json.encode(body)
    if plan.operation is Operation.CHAT:
        body["messages"] = [{"role": "user", "content": prompt}]
    else:
        body["prompt"] = prompt
    body["max_tokens"] = output_tokens
    if plan.ignore_eos:
        body["ignore_eos"] = True
    if plan.wants_stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return msgspec.json.encode(body)
