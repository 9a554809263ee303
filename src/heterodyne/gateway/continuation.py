"""Whether a streamed answer that broke off may go on elsewhere, and from where.

What the client was sent is kept while it is short enough. From it the words are read that another replica's engine has
to go on from, so that the client sees one answer with one id, one opening and one count of tokens.
"""

from typing import Final

from msgspec import structs

from heterodyne.admission.event_tokens import EventTokens
from heterodyne.gateway.attempt import Attempt
from heterodyne.gateway.attempt_owner import AttemptOwner
from heterodyne.gateway.continued_stream import ContinuedStream
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.gateway.partial_answer import PartialAnswer, read_partial_answer
from heterodyne.gateway.race import Race
from heterodyne.gateway.relay import StreamRelay
from heterodyne.ports.engine import DeliveredText, EventEdit
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.telemetry import log, metrics

CONTINUATIONS_MAX: Final = 3
KEPT_BYTES_MAX: Final = 1 << 20  # of one answer: some four thousand tokens

_log = log.get("gateway")


class Continuation:
    """What earlier replicas sent of one answer. One per exchange."""

    __slots__ = (
        "_event_tokens",
        "_is_audited",
        "_may_continue",
        "_race",
        "bytes_before",
        "count",
        "events_before",
        "kept",
        "partial",
        "sent",
    )

    def __init__(
        self, race: Race, event_tokens: EventTokens, *, may_continue: bool, is_audited: bool, is_told: bool = False
    ) -> None:
        """`is_told`: the client gets it in the words of another API than OpenAI's."""
        self._race = race
        self._event_tokens = event_tokens
        self._may_continue = may_continue
        self._is_audited = is_audited
        self.kept: list[bytes] | None = [] if may_continue or is_audited else None  # everything the client was sent
        self.sent: list[bytes] | None = [] if is_audited and is_told else None  # the same, in the client's words
        self.partial: PartialAnswer | None = None  # what earlier replicas delivered, when this answer goes on from it
        self.count = 0
        self.bytes_before = 0  # sent by replicas that broke off
        self.events_before = 0  # of theirs, those with words in them

    @property
    def tokens_before(self) -> int:
        """That earlier replicas delivered."""
        return 0 if self.partial is None else self.partial.delivered_text.tokens

    def edit(self, engine_edit: EventEdit | None) -> EventEdit | None:
        """How the events of the next replica become the rest of the answer."""
        return engine_edit if self.partial is None else ContinuedStream(self.partial, engine_edit)

    @property
    def kept_bytes(self) -> int:
        """What is remembered of the answer in case it has to be continued."""
        if not self._may_continue:
            return 0
        relay = self._race.relay
        return self.bytes_before + (relay.bytes_sent if relay is not None else 0)

    def forget(self) -> None:
        """Remember no more; a break from here on is an error."""
        self._may_continue = False
        if self._is_audited:
            return
        self.kept, relay = None, self._race.relay
        if relay is not None:
            relay.stop_keeping()

    def try_read(self, *, is_chunked: bool) -> PartialAnswer | None:
        """What the client has; None where nothing can soundly follow it."""
        race = self._race
        if self.kept is None or not self._may_continue or self.count >= CONTINUATIONS_MAX:
            return None
        try:
            partial = read_partial_answer(self.kept, race.request.operation, is_chunked=is_chunked)
        except (ValueError, RecursionError):
            return None
        if partial is None or race.wire is None or race.upstream.clock() > race.request.deadline_s:
            return None
        delivered = partial.delivered_text
        tokens = self._event_tokens.estimate(race.wire.pool, delivered.tokens)  # an event may hold several
        return structs.replace(partial, delivered_text=delivered._replace(tokens=tokens))

    def _masked(self, partial: PartialAnswer) -> DeliveredText:
        """What the client has, as an engine may see it."""
        guard, delivered = self._race.request.guard, partial.delivered_text
        return delivered if guard is None else delivered._replace(text=guard.hide(delivered.text))

    def try_go_on(self, owner: AttemptOwner[Attempt], partial: PartialAnswer, broken: StreamRelay | None) -> bool:
        """Have another replica go on from there; False where none can, or the budget for retries is spent."""
        race = self._race
        found = self._try_successor(partial)
        if found is None:
            return False
        choice, call = found
        target = choice.target
        if not race.upstream.try_retry(target.model, race.routing_request.prompt_tokens):
            return False
        self.partial, self.events_before = partial, partial.events
        self.bytes_before += broken.bytes_sent if broken is not None else 0
        self.count += 1
        race.winner = None
        metrics.continuations.add((target.model, target.pool))
        tokens_before = partial.delivered_text.tokens
        _log.info("stream_continued", request_id=race.request.id, replica=target.id, tokens_before=tokens_before)
        race.ask(owner, choice, call, has_begun=True)
        return True

    def _try_successor(self, partial: PartialAnswer) -> tuple[RoutingChoice, EngineRequest | LargeCall] | None:
        """A replica of the same model whose engine can take the answer up, and the call that asks for the rest."""
        race = self._race
        assert race.wire is not None
        request, upstream = race.request, race.upstream
        model, tried = race.wire.model, race.failed
        while (choice := upstream.try_decide(request, race.routing_request, tried)) is not None:
            target = choice.target
            if target.model != model:
                return None
            if request.is_large:
                return choice, upstream.call(request, target, race.salt, self._masked(partial))
            dialect = upstream.fleet.wire(target.id).dialect
            rest = dialect.continuation(request, self._masked(partial))
            if rest is not None:
                return choice, dialect.call(rest, target)
            tried |= {target.id}
        return None
