"""From a complete HTTP request to its page, or to sequences for the engine."""

import random
import time
import uuid
from collections.abc import Sequence

from msgspec import Struct

from heterodyne.domain.errors import ContextExceeded, HeterodyneError, InvalidField, UnknownModel
from heterodyne.jax_engine.answer_format import JaxAnswerFormat, JaxChatFormat, JaxChoice, JaxCompletionFormat
from heterodyne.jax_engine.engine import JaxEngine, Saying
from heterodyne.jax_engine.generation import AskedAnswer, JaxGeneration
from heterodyne.jax_engine.observations import JaxObservations, metrics_page
from heterodyne.jax_engine.pages import TEXT, JaxPage, json_page, refusal_page
from heterodyne.jax_engine.request_body import (
    JaxChatRequest,
    JaxCompletionRequest,
    JaxDetokenizeRequest,
    JaxTokenizeRequest,
    read_body,
    text_messages,
)
from heterodyne.jax_engine.sequence import JaxSequence, SamplingWishes
from heterodyne.jax_engine.served_model import JaxModel
from heterodyne.jax_engine.spoken_text import SpokenText
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.responder import Responder
from heterodyne.wire.server_connection import ServerConnection

CHAT, TEXTS = b"/v1/chat/completions", b"/v1/completions"
COMPLETION_TOKENS = 16  # of a completion without a length, as OpenAI has it
ANSWERS_MAX = 64  # of one request: its prompts times `n`
FULL = "Too many requests wait for this engine."


class _Place(Struct):
    """Where what a sequence says belongs."""

    generation: JaxGeneration
    index: int
    arrived_s: float
    last_s: float
    has_spoken: bool = False


class JaxRequestHandler:
    """The handler of every connection of one engine; it lives in the event loop, beside the engine's thread."""

    def __init__(self, model: JaxModel, name: str, engine: JaxEngine, observations: JaxObservations) -> None:
        self._model, self._name, self._engine, self._seen = model, name, engine, observations
        self._context = engine.scheduler.context_tokens
        self._places: dict[int, _Place] = {}  # by sequence; the scheduler bounds how many there are
        self._next_key = 0
        self._failure: str | None = None

    def check_head(self, request: HttpRequest, connection: ServerConnection) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> Responder | None:
        try:
            if request.method == b"POST" and request.path in (CHAT, TEXTS):
                return self._generate(request, connection)
            page = self._page(request)
        except HeterodyneError as error:
            page = refusal_page(error.status, error.message, error.param)
        connection.finish(page.encode(keeps_alive=connection.keeps_alive))
        return None

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        connection.finish(refusal_page(error.status, error.message, error.param).encode(keeps_alive=False))

    def hear(self, sayings: Sequence[Saying]) -> None:
        """What one call of the device said."""
        now_s = time.monotonic()
        for saying in sayings:
            place = self._places.get(saying.sequence.key)
            if place is None:
                continue
            if saying.reason == "full":
                self._give_up(place.generation)
                place.generation.fail(503, FULL)
                continue
            self._observe(place, saying, now_s)
            place.generation.hear(place.index, saying)
            answer = place.generation.answers[place.index]
            if answer.is_over:
                del self._places[saying.sequence.key]
                self._seen.e2e.observe(now_s - place.arrived_s)
                self._seen.finished[saying.reason or "stop"] += 1
                if saying.reason is None:  # its text has ended it, which the engine does not read
                    self._engine.cancel(answer.sequence)

    def fail(self, message: str) -> None:
        """The engine is no more: everything is answered with that, and health says so."""
        self._failure = message
        places, self._places = list(self._places.values()), {}
        for place in places:
            self._seen.finished["error"] += 1
            place.generation.fail(500, message)

    def _page(self, request: HttpRequest) -> JaxPage:
        if request.method == b"POST" and request.path == b"/tokenize":
            return self._tokenize(request)
        if request.method == b"POST" and request.path == b"/detokenize":
            tokens = read_body(request.body, JaxDetokenizeRequest).tokens
            return json_page({"prompt": self._model.texts.decode(self._checked(tokens, "tokens"))})
        if request.method != b"GET":
            return refusal_page(404, "Not Found")
        if request.path in (b"/health", b"/ping"):
            return JaxPage() if self._failure is None else refusal_page(503, self._failure)
        if request.path == b"/version":
            return json_page({"version": "jax"})
        if request.path == b"/metrics":
            return JaxPage(body=metrics_page(self._seen, self._engine.scheduler), kind=TEXT)
        if request.path == b"/v1/models":
            return json_page({"object": "list", "data": [self._card()]})
        return refusal_page(404, "Not Found")

    def _card(self) -> dict[str, object]:
        return {
            "id": self._name,
            "object": "model",
            "created": int(self._seen.started_at_s),
            "owned_by": "heterodyne",
            "root": self._name,
            "parent": None,
            "max_model_len": self._context,
        }

    def _tokenize(self, request: HttpRequest) -> JaxPage:
        asked = read_body(request.body, JaxTokenizeRequest)
        texts = self._model.texts
        if asked.messages is not None:
            messages = text_messages(asked.messages)
            tokens = texts.chat(messages, adds_prompt=asked.add_generation_prompt, continues=False)
        elif asked.prompt is not None:
            tokens = texts.encode(asked.prompt, has_start=asked.add_special_tokens)
        else:
            raise InvalidField("give a prompt or messages", param="prompt")
        told = {"count": len(tokens), "max_model_len": self._context, "tokens": tokens, "token_strs": None}
        return json_page(told)

    def _generate(self, request: HttpRequest, connection: ServerConnection) -> JaxGeneration | None:
        if self._failure is not None:
            connection.finish(refusal_page(500, self._failure).encode(keeps_alive=connection.keeps_alive))
            return None
        texts, created = self._model.texts, int(time.time())
        asked: JaxChatRequest | JaxCompletionRequest
        words: JaxAnswerFormat
        if request.path == CHAT:
            asked = chat = read_body(request.body, JaxChatRequest)
            chat.check()
            messages = text_messages(chat.messages)
            prompts = [
                texts.chat(messages, adds_prompt=chat.add_generation_prompt, continues=chat.continue_final_message)
            ]
            has_logprobs, top, limit = chat.logprobs, chat.top_logprobs, chat.max_completion_tokens or chat.max_tokens
            form: type[JaxChatFormat | JaxCompletionFormat] = JaxChatFormat
        else:
            asked = text = read_body(request.body, JaxCompletionRequest)
            text.check()
            prompts = self._text_prompts(text)
            has_logprobs, top, limit = text.logprobs is not None, text.logprobs or 0, text.max_tokens
            limit, form = limit or COMPLETION_TOKENS, JaxCompletionFormat
        if asked.model not in (None, self._name):
            raise UnknownModel(f"The model `{asked.model}` does not exist.", param="model")
        words = form(request_id=uuid.uuid4().hex, model=self._name, created=created, has_logprobs=has_logprobs)
        answers = [
            self._answer(asked, self._checked(prompt, "prompt"), limit, top, number)
            for prompt in prompts
            for number in range(asked.n)
        ]
        options = asked.stream_options
        generation = JaxGeneration(
            answers,
            words,
            connection,
            is_stream=asked.stream,
            has_usage=options is not None and options.include_usage,
            has_logprobs=has_logprobs,
            decode=texts.decode,
            cancel=self._give_up,
        )
        now_s = time.monotonic()
        for index, answer in enumerate(answers):
            self._places[answer.sequence.key] = _Place(generation, index, now_s, now_s)
            self._engine.submit(answer.sequence)
        return generation

    def _answer(
        self, asked: JaxChatRequest | JaxCompletionRequest, prompt: list[int], limit: int | None, top: int, number: int
    ) -> AskedAnswer:
        room = self._context - len(prompt)
        seed = random.getrandbits(32) if asked.seed is None else asked.seed + number
        ends = frozenset() if asked.ignore_eos else self._model.ends
        self._next_key += 1
        sequence = JaxSequence(
            self._next_key,
            prompt,
            limit_tokens=min(limit or room, room),
            stop_ids=ends | frozenset(asked.stop_token_ids),
            wishes=SamplingWishes(
                temperature=asked.temperature,
                top_p=asked.top_p,
                top_k=max(asked.top_k, 0),
                min_p=asked.min_p,
                seed=seed,
                top_logprobs=top,
            ),
            salt=asked.cache_salt,
        )
        stops = [asked.stop] if isinstance(asked.stop, str) else asked.stop or []
        return AskedAnswer(sequence, SpokenText(self._model.texts.decode, prompt, stops), JaxChoice("", [], ""))

    def _text_prompts(self, asked: JaxCompletionRequest) -> list[list[int]]:
        prompt = asked.prompt
        some: list[str | list[int]]
        if isinstance(prompt, str):
            some = [prompt]
        elif all(isinstance(one, int) for one in prompt):
            some = [[one for one in prompt if isinstance(one, int)]]
        else:
            some = [one for one in prompt if not isinstance(one, int)]
        if len(some) * asked.n > ANSWERS_MAX:
            raise InvalidField(f"prompt: {len(some) * asked.n} answers; {ANSWERS_MAX} at once at most", param="prompt")
        encode = self._model.texts.encode
        return [encode(one, has_start=asked.add_special_tokens) if isinstance(one, str) else one for one in some]

    def _checked(self, tokens: list[int], param: str) -> list[int]:
        if not tokens or min(tokens) < 0 or max(tokens) >= self._model.programs.shape.vocabulary:
            raise InvalidField(f"{param}: give at least one token, each below the vocabulary's size", param=param)
        if len(tokens) >= self._context:
            raise ContextExceeded(
                f"This model's maximum context length is {self._context} tokens, and the prompt has {len(tokens)}.",
                param=param,
            )
        return tokens

    def _give_up(self, generation: JaxGeneration) -> None:
        for answer in generation.answers:
            if self._places.pop(answer.sequence.key, None) is not None:
                self._seen.finished["abort"] += 1
                self._engine.cancel(answer.sequence)

    def _observe(self, place: _Place, saying: Saying, now_s: float) -> None:
        if place.has_spoken:
            for _ in saying.tokens:
                self._seen.itl.observe((now_s - place.last_s) / len(saying.tokens))
        else:
            self._seen.ttft.observe(now_s - place.arrived_s)
        place.has_spoken, place.last_s = True, now_s
