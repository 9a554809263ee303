"""Every policy by its name: our objectives, and the rules of other systems to compare them with."""

from heterodyne.domain.fleet import Replica
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.routing_rule import RoutingRule
from heterodyne.routing.peers.catalogue import PEERS
from heterodyne.routing.picker import Picker
from heterodyne.routing.policies.affinity import AffinityObjective
from heterodyne.routing.policies.cost import CostObjective
from heterodyne.routing.policies.load import LoadObjective
from heterodyne.routing.policies.mix import MixObjective
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.policies.slo import SloObjective

OBJECTIVES = ("slo", "cost", "affinity", "load", "mix")
EVEN_MIX = {"slo": 0.5, "cost": 0.5}


def objective(name: str, rule: RoutingRule) -> Objective:
    """One of our own, as the rule tunes it."""
    match name:
        case "slo":
            return SloObjective()
        case "cost":
            return CostObjective()
        case "load":
            return LoadObjective()
        case "affinity":
            return AffinityObjective(_RulePreference(rule))
        case "mix":
            weights = rule.mix or EVEN_MIX
            return MixObjective(
                slo=weights.get("slo", 0.0), cost=weights.get("cost", 0.0), load=weights.get("load", 0.0)
            )
    raise unknown_name("policy", name, OBJECTIVES)


def try_peer(name: str) -> Picker | None:
    """Another system's rule, new; None where the name is one of ours."""
    peer = PEERS.get(name)
    return None if peer is None else peer()


def check_objective(name: str) -> None:
    """Raise unless the name is one of our own objectives, which is all that requests may ask for."""
    if name not in OBJECTIVES:
        raise unknown_name("policy", name, OBJECTIVES)


def check_policy(name: str) -> None:
    """Raise what is wrong with the name of a policy."""
    if name not in OBJECTIVES and name not in PEERS:
        raise unknown_name("policy", name, (*OBJECTIVES, *PEERS))


class _RulePreference:
    """Any of the preferred accelerators, with all of the preferred labels."""

    def __init__(self, rule: RoutingRule) -> None:
        self._hardware = rule.prefers_hardware
        self._labels = rule.prefers_labels.items()

    def prefers(self, replica: Replica) -> bool:
        if self._hardware and replica.hardware not in self._hardware:
            return False
        return all(replica.labels.get(label) == value for label, value in self._labels)
