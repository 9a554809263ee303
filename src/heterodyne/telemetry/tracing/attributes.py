"""Pure: what spans say, in OpenTelemetry's names where it has one, else in ours. Never a prompt, never a key."""

from heterodyne.telemetry.tracing.facts import RequestFacts, TryFacts
from heterodyne.telemetry.tracing.role import AttemptRole
from heterodyne.telemetry.tracing.span import Attribute, Attributes

OURSELVES = "heterodyne"
_OPERATIONS = {"completion": "text_completion", "embedding": "embeddings"}  # where the conventions have another word


def operation_name(operation: str) -> str:
    """In the words of the GenAI conventions."""
    return _OPERATIONS.get(operation, operation)


def request_attributes(facts: RequestFacts) -> Attributes:
    """Of the request as a whole. Tokens are here and nowhere below, so that they are not added up twice."""
    record = facts.record
    known: dict[str, Attribute | None] = {
        "http.response.status_code": record.status,
        "error.type": record.reason,
        "server.address": facts.server_host,
        "server.port": facts.server_port or None,
        "heterodyne.request_id": record.id,
        "heterodyne.kept": facts.kept,
        "heterodyne.tenant": record.tenant,
        "heterodyne.tier": record.tier,
    }
    if not facts.operation:
        return _known({**known, "http.request.method": facts.method, "http.route": facts.route})
    known |= {
        "gen_ai.operation.name": operation_name(facts.operation),
        "gen_ai.provider.name": OURSELVES,
        "gen_ai.request.model": record.asked_model or record.model,
        "gen_ai.request.max_tokens": facts.output_tokens_max,
        "heterodyne.class": record.urgency or "interactive",
    }
    if not facts.tries:
        return _known(known)
    return _known({**known, **_answer(facts)})


def _answer(facts: RequestFacts) -> dict[str, Attribute | None]:
    """What is only known of a request that a replica was asked for."""
    record = facts.record
    first_s = facts.first_at_s - facts.arrived_at_s if facts.first_at_s and record.stream else None
    return {
        "gen_ai.request.stream": record.stream,
        "gen_ai.response.model": record.model,
        "gen_ai.response.time_to_first_chunk": first_s,
        "gen_ai.usage.input_tokens": record.prompt_tokens,
        "gen_ai.usage.cache_read.input_tokens": record.cached_tokens or None,
        "gen_ai.usage.output_tokens": record.completion_tokens,
        "gen_ai.usage.reasoning.output_tokens": record.reasoning_tokens or None,
        "heterodyne.usage.is_estimated": record.is_estimated,
        "heterodyne.pool": record.pool,
        "heterodyne.replica": record.replica,
        "heterodyne.hardware": record.hardware,
        "heterodyne.decision": record.decision,
        "heterodyne.predicted.ttft_ms": record.predicted_ttft_ms,
        "heterodyne.predicted.itl_ms": record.predicted_itl_ms,
        "heterodyne.itl_ms": record.itl_ms,
        "heterodyne.queue_ms": record.queue_ms,
        "heterodyne.overhead_ms": record.overhead_ms,
        "heterodyne.usd": record.usd,
        "heterodyne.retries": record.retries,
        "heterodyne.continuations": record.continuations,
        "heterodyne.is_hedged": record.is_hedged,
        "heterodyne.promise": record.promise,
    }


def wait_attributes(facts: RequestFacts) -> Attributes:
    """Where it waited: every model has a queue, in which the tiers and classes have their shares."""
    record = facts.record
    return _known(
        {
            "heterodyne.queue": record.asked_model or record.model,
            "heterodyne.tier": record.tier,
            "heterodyne.class": record.urgency or "interactive",
        }
    )


def try_attributes(facts: RequestFacts, one: TryFacts, role: AttemptRole) -> Attributes:
    """Of one attempt."""
    replica = one.replica
    return _known(
        {
            "gen_ai.operation.name": operation_name(facts.operation),
            "gen_ai.provider.name": replica.engine,
            "gen_ai.request.model": replica.engine_model or replica.model,
            "server.address": replica.host,
            "server.port": replica.port,
            "http.response.status_code": one.status or None,
            "error.type": try_error(one),
            "heterodyne.pool": replica.pool,
            "heterodyne.replica": replica.id,
            "heterodyne.hardware": replica.hardware,
            "heterodyne.attempt.role": role,
            "heterodyne.attempt.outcome": one.outcome,
        }
    )


def try_error(one: TryFacts) -> str:
    """What failed; an attempt that was no longer wanted has not."""
    return "" if one.outcome in ("success", "cancelled") else one.outcome


def _known(known: dict[str, Attribute | None]) -> Attributes:
    return {name: value for name, value in known.items() if value is not None and value != ""}
