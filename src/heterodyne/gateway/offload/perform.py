"""The work itself, in the process beside the worker: a job and a body in, a result and a body out. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256

from heterodyne.domain.errors import EngineBroke, HeterodyneError, InternalError
from heterodyne.domain.request import PromptBytes
from heterodyne.engines.json_edit import put
from heterodyne.engines.shortened import shortened
from heterodyne.gateway import routes
from heterodyne.gateway.body_size import LARGE_BYTES
from heterodyne.gateway.offload.answering import whole_answer
from heterodyne.gateway.offload.gathering import gathered
from heterodyne.gateway.offload.job import (
    AnswerRead,
    BodyRead,
    CallMade,
    CheckAnswer,
    Checked,
    CheckRequest,
    GatherTexts,
    Job,
    MakeCall,
    ReadAnswer,
    ReadBody,
    Result,
    TextsGathered,
    failure_of,
    fields_of,
    request_of,
    usage_fields,
)
from heterodyne.ports.engine import DeliveredText, EngineDialect
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.kv.chain import PROMPT_BYTES_MAX
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.guarded import Guarded
from heterodyne.safety.placeholders import Placeholders
from heterodyne.safety.policy import GuardRule, rule_of
from heterodyne.safety.remote.asked_texts import AskedTexts
from heterodyne.safety.request_check import check_request
from heterodyne.safety.settings import GuardSettings

Dialects = Mapping[str, EngineDialect]


def perform(job: Job, body: bytes, dialects: Dialects) -> tuple[Result, bytes]:
    """The result, and the bytes that go with it."""
    try:
        match job:
            case ReadBody():
                return _read(job, body)
            case MakeCall():
                return _make(job, body, dialects[job.replica.engine])
            case ReadAnswer():
                return _answer(job, body, dialects[job.replica.engine])
            case CheckRequest():
                return _checked(check_request(_rules(job.policies), body, job.media_type), body)
            case CheckAnswer():
                rules, values = _rules(job.policies), Placeholders(job.values)
                return _checked(check_answer(rules, values, body, judged=job.judged, expected=job.expected), body)
            case GatherTexts():
                return _gathered(gathered(_rules(job.policies), job, body))
    except HeterodyneError as error:
        return failure_of(error), b""
    except MemoryError:
        return failure_of(InternalError("There is not enough memory to read a body of this shape.")), b""


def _read(job: ReadBody, body: bytes) -> tuple[Result, bytes]:
    route = routes.find(job.path)
    assert route is not None
    assert route.read is not None
    request = None
    if route.try_read_long is not None:
        request = route.try_read_long(body, job.request_id, job.deadline_s, job.settings)
    if request is None:
        request = route.read(body, job.request_id, job.deadline_s, job.settings)
    whole = opening = b""
    if job.wants_prompt and request.prompt is not None:
        whole, opening = request.prompt.whole(), _short(request.prompt)
    translated = b"" if request.received is None else request.body
    return (
        BodyRead(request=fields_of(request), prompt_bytes=len(whole), opening=opening, body_bytes=len(translated)),
        whole[:PROMPT_BYTES_MAX] + translated,
    )


def _short(prompt: PromptBytes) -> bytes:
    """What tells a conversation from others; one that is long in every turn of it is told by its hash."""
    opening = prompt.opening()
    return opening if len(opening) <= LARGE_BYTES else sha256(opening).digest()


def _make(job: MakeCall, body: bytes, dialect: EngineDialect) -> tuple[Result, bytes]:
    request = request_of(job.request, body)
    if request.changes:
        request = request_of({**job.request, "changes": None}, put(body, request.changes))
    if request.kept_share is not None and request.kept_share < 1.0:
        request.body = shortened(request.body, request.kept_share)
    if job.said_text is not None:
        rest = dialect.continuation(request, DeliveredText(job.said_text, job.said_tokens))
        if rest is None:
            raise EngineBroke("The engine broke off in the middle of its answer, which nobody can take up.")
        request = rest
    call = dialect.call(request, job.replica)
    is_same = call.body is body
    made = CallMade(path=call.path, is_same=is_same, media_type=call.media_type, not_carried=tuple(call.not_carried))
    return made, b"" if is_same else call.body


def _answer(job: ReadAnswer, body: bytes, dialect: EngineDialect) -> tuple[Result, bytes]:
    answer = whole_answer(dialect, request_of(job.request, b""), job.replica, body)
    if isinstance(answer, EngineRequest):
        return AnswerRead(is_same=False, next_path=answer.path), answer.body
    made = answer.pieces[0]
    is_same = made is body
    usage = None if answer.usage is None else usage_fields(answer.usage)
    return AnswerRead(is_same=is_same, usage=usage, is_error=answer.is_error), b"" if is_same else made


@lru_cache(maxsize=256)
def _rules(policies: tuple[tuple[str, GuardSettings], ...]) -> tuple[GuardRule, ...]:
    return tuple(rule_of(name, settings) for name, settings in policies)


def _checked(checked: tuple[Guarded, bytes], body: bytes) -> tuple[Result, bytes]:
    guarded, made = checked
    is_same = made is body
    return Checked(guarded=guarded, is_same=is_same), b"" if is_same else made


def _gathered(texts: AskedTexts) -> tuple[Result, bytes]:
    return TextsGathered(has_ids=texts.has_ids), texts.json
