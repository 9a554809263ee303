"""Answers to prompts that mean the same: found by their embeddings, decided by `caching/semantic/`.

A prompt is embedded by a model of the fleet, in the name of whoever asks. Where an answer is near and would be served,
a coin sends some to a replica all the same; what that says is compared with what was kept, and so the share of wrong
answers is known and bounded. In shadow nothing is served, and everything that would have been is compared.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, final

import msgspec
import numpy as np
from msgspec import Struct, structs

from heterodyne.caching.entry import CachedAnswer
from heterodyne.caching.exact.kept_answers import KeptAnswers
from heterodyne.caching.policy import NamedCache
from heterodyne.caching.semantic.decision import AskReason, CacheAction, SemanticDecider, SemanticDecision
from heterodyne.caching.semantic.entries import SemanticEntries, SemanticEntry
from heterodyne.caching.semantic.error_account import ErrorBound
from heterodyne.caching.semantic.fence import FencedPrompt, try_fence
from heterodyne.caching.semantic.growing_index import GrowingIndex, has_graph
from heterodyne.caching.semantic.index import Vector
from heterodyne.caching.semantic.reading import PromptReading, read
from heterodyne.caching.semantic.settings import SemanticSettings
from heterodyne.caching.semantic.shared_prompt import SharedPrompt
from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.answer_comparer import AnswerComparer
from heterodyne.gateway.caching.account_gauges import AccountGauges
from heterodyne.gateway.caching.shared_prompts import SharedPrompts
from heterodyne.gateway.inner_step import Answers, Ask, InnerStep, inner_post
from heterodyne.telemetry import metrics
from heterodyne.wire.responder import Responder

EMBEDDING_S: Final = 0.5  # that a prompt may wait for its embedding; then it is asked as if nothing were kept
DECIDERS_MAX: Final = 64  # tenants times policies; each takes a mebibyte
ENTRIES_MAX: Final = 50_000  # prompts, with a graph
ENTRIES_EXACT_MAX: Final = 8192  # without one
TRIES_MAX: Final = 4  # entries whose answer has given way


class EmbeddedText(Struct):
    """One of an embedding answer."""

    embedding: list[float]


class EmbeddingAnswer(Struct):
    """What is read of it."""

    data: list[EmbeddedText]


_encode = msgspec.json.Encoder().encode
_decode_embedding = msgspec.json.Decoder(EmbeddingAnswer).decode


@final
class SemanticLook:
    """One request on its way through: its prompt, what is near, what was decided."""

    __slots__ = (
        "cache",
        "caller",
        "cosine",
        "decider",
        "decision",
        "fenced",
        "kept",
        "model",
        "model_version",
        "reading",
        "settings",
        "vector",
        "was_shared",
    )

    def __init__(
        self, fenced: FencedPrompt, policy: NamedCache, caller: Caller, *, model: str, model_version: str
    ) -> None:
        self.fenced = fenced
        self.cache, self.settings = policy
        self.caller = caller
        self.model = model
        self.model_version = model_version
        self.reading: PromptReading = read(fenced.text)
        self.vector: Vector | None = None  # None: it was not embedded
        self.was_shared = False  # looked for where several keep prompts together
        self.decider: SemanticDecider | None = None
        self.decision: SemanticDecision | None = None  # None: there was none
        self.kept: CachedAnswer | None = None  # the answer to the nearest prompt
        self.cosine = 0.0


class SemanticCache:
    """One per worker. Prompts are here, their answers among those that the exact cache keeps."""

    def __init__(self, kept: KeptAnswers, chance: Callable[[], float]) -> None:
        self._kept = kept
        self._chance = chance
        self.ask: Ask | None = None  # set where the server is made
        self.shared: SharedPrompts | None = None  # None: this worker keeps its own alone
        self._entries: dict[tuple[str, int], SemanticEntries] = {}  # by embedding model and length of its vectors
        self._deciders: OrderedDict[tuple[bytes, CacheSettings], SemanticDecider] = OrderedDict()
        self._accounts = AccountGauges()
        self._comparer = AnswerComparer()

    def try_look(
        self,
        body: Mapping[str, Any],
        policy: NamedCache,
        caller: Caller,
        *,
        tenant_salt: bytes,
        model: str,
        model_version: str,
    ) -> SemanticLook | None:
        """The prompt of a chat; None where it does not end with a user's text."""
        if policy.settings.semantic == "off" or self.ask is None:
            return None
        fenced = try_fence(body, tenant_salt=tenant_salt, model_version=model_version, path="chat")
        if fenced is None:
            return None
        return SemanticLook(fenced, policy, caller, model=model, model_version=model_version)

    def begin(
        self,
        look: SemanticLook,
        wait_s: float,
        *,
        go_on: Callable[[], None],
        refused: Callable[[HeterodyneError], None],
    ) -> Responder:
        """Have the prompt embedded; the request goes on when that is done, or cannot be."""
        assert self.ask is not None

        def embedded(answers: Answers) -> None:
            answer = answers[0]
            look.vector = None if answer is None or answer.status != 200 else _try_vector(answer.body)
            go_on()

        asked = {"model": look.settings.embedding_model, "input": look.fenced.text}
        wait_s = min(wait_s, EMBEDDING_S)
        http = inner_post(b"/v1/embeddings", _encode(asked), look.caller, wait_s=wait_s, headers={})
        return InnerStep(self.ask, [http], wait_s, done=embedded, refused=refused)

    def try_begin_shared(
        self, look: SemanticLook, *, go_on: Callable[[], None], refused: Callable[[HeterodyneError], None]
    ) -> Responder | None:
        """Look for what others know that is near; None: there is nothing to wait for."""
        if not self._waits_for_shared(look):
            return None
        assert self.shared is not None
        assert look.vector is not None
        look.was_shared = True
        return self.shared.try_begin(
            look.fenced,
            look.settings.embedding_model,
            look.vector,
            look.caller.salt,
            found=partial(self._take, look),
            go_on=go_on,
            refused=refused,
        )

    def choose(self, look: SemanticLook, now_s: float, age_max_s: float) -> CachedAnswer | None:
        """Decide, once; the answer that is served, or None where a replica or the shared store is asked."""
        if look.vector is None or look.decision is not None or self._waits_for_shared(look):
            return None
        reading = self._find(look, now_s, age_max_s)
        look.decider = decider = self._decider(look)
        look.decision = decision = decider.decide(look.reading, reading, look.cosine, self._chance())
        metrics.semantic_cache_decisions.add((look.cache, look.model, decision.action.value))
        self._accounts.decided(look.cache, decider)
        return look.kept if decision.action is CacheAction.SERVE else None

    def settled(self, look: SemanticLook, answer: CachedAnswer | None, *, is_shared: bool) -> None:
        """What a replica said in its place, which is kept, and where `is_shared` where others keep theirs; None: it
        said nothing that is."""
        decision, vector = look.decision, look.vector
        if decision is None or vector is None:
            return
        if answer is None:
            if decision.action is CacheAction.EXPLORE:  # what goes missing counts as wrong, or the bound would not hold
                self._learn(look, is_same=False)
            return
        if decision.reason is not AskReason.NO_CANDIDATE:
            self._compare(look, answer.body)
        self._add(look, vector, look.reading, answer)
        if self.shared is not None and is_shared:
            self.shared.keep(look.fenced, look.settings.embedding_model, vector, answer)

    async def close(self) -> None:
        """Nothing is looked up any more."""
        if self.shared is not None:
            await self.shared.close()

    def clear(self) -> None:
        """Forget all prompts, and what was learned of them."""
        self._entries.clear()
        self._deciders.clear()
        self._accounts.clear()
        self._note_prompts()

    def _waits_for_shared(self, look: SemanticLook) -> bool:
        is_embedded = look.vector is not None and not look.was_shared
        return is_embedded and self.shared is not None and not self.shared.is_away

    def _take(self, look: SemanticLook, prompt: SharedPrompt) -> None:
        """One that another worker keeps is among this one's own from now on."""
        assert look.vector is not None
        vector, answer = prompt.vector, prompt.answer
        is_known = self._entries_of(look).has(look.fenced.fence, answer.key)
        if len(vector) != len(look.vector) or self._kept.drops.has_dropped(answer):
            return
        self._kept.put(answer)
        if not is_known:
            self._add(look, vector, read(prompt.text), answer)

    def _add(self, look: SemanticLook, vector: Vector, reading: PromptReading, answer: CachedAnswer) -> None:
        entry = SemanticEntry(
            answer_key=answer.key,
            reading=reading,
            model_version=look.model_version,
            expires_at_s=answer.expires_at_s,
        )
        self._entries_of(look).add(look.fenced.fence, vector, entry)
        self._note_prompts()

    def _find(self, look: SemanticLook, now_s: float, age_max_s: float) -> PromptReading | None:
        """The nearest prompt whose answer is still kept."""
        assert look.vector is not None
        entries = self._entries_of(look)
        for _ in range(TRIES_MAX):
            near = entries.nearest(look.fenced.fence, look.vector, model_version=look.model_version, now_s=now_s)
            if near is None:
                return None
            look.kept = self._kept.try_get(near.entry.answer_key, look.caller.salt, now_s)
            if look.kept is not None and now_s - look.kept.stored_at_s <= age_max_s:
                look.cosine = near.cosine
                return near.entry.reading
            if look.kept is not None:
                look.kept = None
                return None  # it is only too old for this request
            entries.remove(near.entry_id)
        return None

    def _entries_of(self, look: SemanticLook) -> SemanticEntries:
        assert look.vector is not None
        name = (look.settings.embedding_model, len(look.vector))
        entries = self._entries.get(name)
        if entries is None:
            most = ENTRIES_MAX if has_graph() else ENTRIES_EXACT_MAX
            entries = SemanticEntries(entries_max=most, make_index=partial(GrowingIndex, len(look.vector)))
            self._entries[name] = entries
        return entries

    def _decider(self, look: SemanticLook) -> SemanticDecider:
        """A policy that went from shadow to serve takes along what it learned; the way back begins anew."""
        is_shadow = look.settings.semantic == "shadow"
        name = (look.caller.salt, structs.replace(look.settings, semantic="shadow"))
        decider = self._deciders.get(name)
        if decider is None or (is_shadow and not decider.is_shadow):
            bound = ErrorBound(per_request=look.settings.error_share_max)
            if decider is not None:
                self._accounts.forget(decider)
            decider = SemanticDecider(SemanticSettings(error_bound=bound, is_shadow=is_shadow))
            self._deciders[name] = decider
            if len(self._deciders) > DECIDERS_MAX:
                _, oldest = self._deciders.popitem(last=False)
                self._accounts.forget(oldest)
        elif decider.is_shadow and not is_shadow:
            decider.go_live()
        self._deciders.move_to_end(name)
        return decider

    def _note_prompts(self) -> None:
        metrics.semantic_cache_prompts.set((), sum(map(len, self._entries.values())))

    def _compare(self, look: SemanticLook, body: bytes) -> None:
        """Learn whether the kept answer would have done."""
        assert look.kept is not None
        self._comparer.compare(
            self.ask,
            look.fenced.text,
            (look.kept.body, body),
            judge_model=look.settings.judge_model,
            caller=look.caller,
            heard=partial(self._judged, look),
        )

    def _judged(self, look: SemanticLook, is_same: bool | None) -> None:
        """Where nobody could say, it counts as wrong if the bound rests on it, and else for nothing."""
        assert look.decision is not None
        if is_same is not None:
            self._learn(look, is_same=is_same)
        elif look.decision.action is CacheAction.EXPLORE:
            self._learn(look, is_same=False)

    def _learn(self, look: SemanticLook, *, is_same: bool) -> None:
        assert look.decider is not None
        assert look.decision is not None
        outcome = "same" if is_same else "different"
        metrics.semantic_cache_compared.add((look.cache, look.model, look.decision.action.value, outcome))
        look.decider.learn(look.decision, is_same)
        self._accounts.learned(look.cache, look.decider)


def _try_vector(body: bytes) -> Vector | None:
    try:
        data = _decode_embedding(body).data
    except msgspec.DecodeError:
        return None
    if len(data) != 1 or not data[0].embedding:
        return None
    vector: Vector = np.asarray(data[0].embedding, np.float32)
    return vector if bool(np.isfinite(vector).all()) else None
