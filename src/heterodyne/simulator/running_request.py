"""One request of a simulation that is under way."""

from heterodyne.routing.ticket import Ticket
from heterodyne.simulator.admission import AdmittedRequest
from heterodyne.simulator.replica import SimulatedReplica
from heterodyne.simulator.tally import ForecastRecord
from heterodyne.simulator.workload import SimulatedRequest


class RunningRequest:
    """From its start on a replica to its end."""

    __slots__ = ("admitted", "first_at_s", "predicted", "replica", "request", "ticket")

    def __init__(
        self,
        request: SimulatedRequest,
        replica: SimulatedReplica,
        ticket: Ticket,
        predicted: ForecastRecord | None,
        admitted: AdmittedRequest | None,
    ) -> None:
        self.admitted = admitted  # None: there is no admission
        self.request = request
        self.replica = replica
        self.ticket = ticket
        self.predicted = predicted
        self.first_at_s: float | None = None
