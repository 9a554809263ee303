"""What attempts report to and what they claim, with everything noted."""

from heterodyne.domain.adapter import Nearness
from heterodyne.domain.errors import EngineError, HeterodyneError
from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.gateway.attempt import Attempt
from heterodyne.gateway.relay import StreamRelay
from heterodyne.ports.adapters import Ready
from heterodyne.routing.health.outcome import Outcome
from tests.support.memory_network import MemoryClient


class RecordingOwner:
    """Owns attempts, notes what they report and ends those that fail; with a client, streams are relayed to it."""

    def __init__(self, client: MemoryClient | None = None, keep: list[bytes] | None = None) -> None:
        self._client = client
        self._keep = keep
        self.heard: list[tuple[str, Attempt]] = []
        self.pieces: list[bytes] = []
        self.error: HeterodyneError | None = None  # the latest

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.heard]

    def attempt_streams(self, attempt: Attempt) -> StreamRelay | None:
        self.heard.append(("streams", attempt))
        if self._client is None:
            return None
        client = self._client
        return StreamRelay(client.connection, attempt, client.clock, wants_usage=True, keep=self._keep)

    def attempt_begins(self, attempt: Attempt) -> None:
        self.heard.append(("begins", attempt))

    def attempt_completed(self, attempt: Attempt) -> None:
        self.heard.append(("completed", attempt))

    def attempt_answered(self, attempt: Attempt, pieces: list[bytes]) -> None:
        self.heard.append(("answered", attempt))
        self.pieces = pieces

    def attempt_unsent(self, attempt: Attempt, error: HeterodyneError) -> None:
        self.heard.append(("unsent", attempt))
        self.error = error

    def attempt_failed(self, attempt: Attempt, error: EngineError) -> None:
        self.heard.append(("failed", attempt))
        self.error = error
        attempt.end(Outcome.BROKE)


class AdapterClaims:
    """The adapters of replicas: those in `held` are there, for others a test calls what is in `waiting`."""

    def __init__(self) -> None:
        self.held: set[tuple[ReplicaId, str]] = set()
        self.waiting: list[Ready] = []
        self.uses = 0

    def nearness(self, replica: Replica, name: str) -> Nearness:
        return Nearness.HELD if (replica.id, name) in self.held else Nearness.ROOM

    def use(self, replica: Replica, name: str) -> "AdapterClaims":
        self.uses += 1
        return self

    def when_ready(self, then: Ready) -> None:
        self.waiting.append(then)

    def end(self) -> None:
        self.uses -= 1

    def doubt(self, replica: ReplicaId, name: str) -> bool:
        was_held = (replica, name) in self.held
        self.held.discard((replica, name))
        return was_held

    def publish(self, snapshot: FleetSnapshot) -> None: ...
