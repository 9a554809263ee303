"""Every way in which engines here exchange KV, by the word that a pool's `kv_transfer` says."""

from heterodyne.engines.kv_transfer.nixl import NixlTransfer
from heterodyne.engines.kv_transfer.sglang import SglangTransfer
from heterodyne.engines.kv_transfer.slots import SlotTransfer
from heterodyne.engines.kv_transfer.tensorrt_llm import TensorRtLlmTransfer
from heterodyne.ports.kv_transfer import FileTransfer, PairedTransfer, SequentialTransfer

SEQUENTIAL: dict[str, SequentialTransfer] = {
    "nixl": NixlTransfer(),
    "dynamo": NixlTransfer(),
    "trtllm": TensorRtLlmTransfer(),
}
PAIRED: dict[str, PairedTransfer] = {"sglang": SglangTransfer()}
FILES: dict[str, FileTransfer] = {"slots": SlotTransfer()}
IMPLICIT = frozenset({"example", "lmcache"})  # nothing is said in requests: engines read their store by themselves
