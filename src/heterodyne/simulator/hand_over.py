"""One request's KV that is on its way, or is to be."""

from enum import StrEnum
from typing import Protocol

from heterodyne.domain.kv_origin import KvLoss
from heterodyne.physics.replica.job import Job
from heterodyne.routing.routing_choice import KvPlan
from heterodyne.simulator.kv.transfers import Transfer
from heterodyne.simulator.replica import SimulatedReplica


class HandOverStage(StrEnum):
    """How far it has come."""

    PREFILL = "prefill"  # another replica computes the prompt
    MEMORY = "memory"  # the replica that answers has no room yet
    MOVING = "moving"
    OVER = "over"


class KvTicket(Protocol):
    """Who hears what becomes of it."""

    def kv_prefilled(self, now_s: float) -> None:
        """The prompt is computed, and its KV begins to move."""

    def kv_arrived(self, now_s: float, byte_count: float) -> None:
        """It has come in whole."""

    def kv_failed(self, now_s: float, loss: KvLoss) -> None:
        """It is given up."""


class SimulatedHandOver:
    """From the decision until the KV has come, or is given up."""

    __slots__ = ("job", "plan", "source", "stage", "target", "ticket", "tokens", "transfer")

    def __init__(
        self, job: Job, plan: KvPlan, source: SimulatedReplica | None, target: SimulatedReplica, ticket: KvTicket
    ) -> None:
        self.job = job
        self.plan = plan
        self.source = source
        self.target = target
        self.ticket = ticket
        self.stage = HandOverStage.MEMORY
        self.transfer: Transfer | None = None
        self.tokens = 0  # that are there when it has come
