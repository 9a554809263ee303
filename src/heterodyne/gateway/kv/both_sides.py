"""Whether two replicas may exchange KV after all, and where those meet that are asked at once."""

from typing import Final

from heterodyne.domain.fleet import Replica
from heterodyne.engines.kv_transfer.sglang import BOOTSTRAP_PORT
from heterodyne.gateway.kv.kv_failure import KvFailure, KvOutcome

PORT_DIGITS: Final = 5
BOOTSTRAP_LABEL: Final = "kv_bootstrap_port"  # of a pool whose prefill servers have another than the usual one


def check_alike(source: Replica, target: Replica) -> None:
    """Both have to hold KV in the same form, and speak of it in the same way."""
    if source.kv_transfer != target.kv_transfer or not source.kv_layout or source.kv_layout != target.kv_layout:
        raise KvFailure(KvOutcome.MISMATCHED, f"{source.id} and {target.id} do not hold KV alike.")


def bootstrap_port(replica: Replica) -> int:
    """Where its pairs meet."""
    said = replica.labels.get(BOOTSTRAP_LABEL, "")
    return int(said) if said.isdecimal() and len(said) <= PORT_DIGITS else BOOTSTRAP_PORT
