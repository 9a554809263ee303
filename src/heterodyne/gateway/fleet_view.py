"""The latest fleet snapshot, with the bytes that every request to a replica begins with."""

from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.engines.header_lines import header_lines, request_signer
from heterodyne.engines.replica_address import replica_address
from heterodyne.gateway.render import decision_header, model_header
from heterodyne.ports.engine import EngineDialect
from heterodyne.ports.engine_request import JSON
from heterodyne.routing.routing_choice import RoutingChoice


class ReplicaWire:
    """What is the same in every exchange with one replica, made once."""

    __slots__ = (
        "_choice",
        "_decision_header",
        "_header_lines",
        "_host_line",
        "_sign",
        "address",
        "client_fields",
        "dialect",
        "hardware",
        "has_adapters",
        "has_kv",
        "is_shared",
        "keeps_prompts",
        "model",
        "pool",
        "replica",
        "replica_id",
        "response_headers",
        "tells_limits",
    )

    def __init__(self, replica: Replica, dialect: EngineDialect) -> None:
        self.publish(replica)
        # What every request reads is kept apart, where compiled code finds it fast.
        self.replica_id = replica.id
        self.pool = replica.pool
        self.model = replica.model
        self.hardware = replica.hardware or ""
        self.dialect = dialect
        self.tells_limits = dialect.tells_limits
        self.client_fields = dialect.client_fields | frozenset(replica.allow_fields)
        self.is_shared = False  # another replica serves the same model
        self.keeps_prompts = False  # new replicas of the model are warmed up by what users ask
        self.address = replica_address(replica)
        self.response_headers = f"x-heterodyne-pool: {replica.pool}\r\nx-heterodyne-replica: {replica.id}\r\n".encode()
        self._host_line = self.address.authority.encode()
        self._header_lines = header_lines(replica, dialect)
        self._sign = request_signer(replica, dialect)
        self._choice: RoutingChoice | None = None
        self._decision_header = b""

    def publish(self, replica: Replica) -> None:
        """What the fleet knows of it now."""
        self.replica = replica
        self.has_adapters = bool(replica.adapters)
        self.has_kv = bool(replica.kv_transfer or replica.kv_store or replica.kv_host_bytes)

    def fits(self, replica: Replica) -> bool:
        """Whether this is still right of it; what a replica says of its load is nowhere in here."""
        known = self.replica
        return (
            known.port == replica.port
            and known.host == replica.host
            and known.tls == replica.tls
            and known.tls_files == replica.tls_files
            and known.engine == replica.engine
            and known.pool == replica.pool
            and known.model == replica.model
            and known.hardware == replica.hardware
            and known.api_key_env == replica.api_key_env
            and known.allow_fields == replica.allow_fields
        )

    def request_head(
        self, path: str, request_id: str, body: bytes, trace_lines: bytes = b"", media_type: str = JSON
    ) -> bytes:
        """Clients' own headers stop at the gateway: their keys are for us, not for engines."""
        lines = self._header_lines if self._sign is None else self._header_lines + self._sign(path, body)
        return (
            b"POST %b HTTP/1.1\r\nhost: %b\r\ncontent-type: %b\r\n%bx-request-id: %b\r\n%bcontent-length: %d\r\n\r\n"
            % (
                path.encode(),
                self._host_line,
                media_type.encode(),
                lines,
                request_id.encode(),
                trace_lines,
                len(body),
            )
        )

    def answer_headers(self, choice: RoutingChoice, *, asked_model: str) -> bytes:
        """Who answers, and why it was chosen; one decision may be that of several requests."""
        if choice is not self._choice:
            self._choice, self._decision_header = choice, decision_header(choice)
        headers = self.response_headers + self._decision_header
        model = self.model
        return headers if model == asked_model else headers + model_header(model)


class FleetView:
    """Read by every request, replaced whole by the control loop."""

    __slots__ = ("_dialects", "_wires", "snapshot", "warmed_models")

    def __init__(self, dialects: dict[str, EngineDialect], snapshot: FleetSnapshot) -> None:
        self._dialects = dialects
        self._wires: dict[ReplicaId, ReplicaWire] = {}
        self.publish(snapshot)

    def publish(self, snapshot: FleetSnapshot) -> None:
        """Make a newer snapshot the one that requests see."""
        self.snapshot = snapshot
        self._wires = {replica.id: self._wire(replica) for replica in snapshot.replicas}
        self.warmed_models = frozenset(one.model for one in snapshot.replicas if one.kv_warm_up is not None)
        for model, replicas in snapshot.by_model.items():
            for replica in replicas:
                wire = self._wires[replica.id]
                wire.is_shared = len(replicas) > 1
                wire.keeps_prompts = model in self.warmed_models

    def wire(self, replica: ReplicaId) -> ReplicaWire:
        return self._wires[replica]

    def _wire(self, replica: Replica) -> ReplicaWire:
        """Loads come twice a second and change no byte of a request: most wires are the ones of before."""
        wire = self._wires.get(replica.id)
        if wire is None or not wire.fits(replica):
            return ReplicaWire(replica, self._dialects[replica.engine])
        wire.publish(replica)
        return wire
