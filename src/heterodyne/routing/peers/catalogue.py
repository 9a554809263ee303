"""The peers by name, each with one line of what it does: a new one is a file and a line."""

from collections.abc import Callable

from heterodyne.routing.peers.aibrix_prefix import AibrixPrefix
from heterodyne.routing.peers.dynamo import Dynamo
from heterodyne.routing.peers.least_request import LeastRequest
from heterodyne.routing.peers.litellm_cost import LitellmCost
from heterodyne.routing.peers.litellm_latency import LitellmLatency
from heterodyne.routing.peers.litellm_shuffle import LitellmShuffle
from heterodyne.routing.peers.llm_d import LlmD
from heterodyne.routing.peers.llm_d_sticky import LlmDSticky
from heterodyne.routing.peers.power_of_two import PowerOfTwo
from heterodyne.routing.peers.round_robin import RoundRobin
from heterodyne.routing.peers.sglang_cache_aware import SglangCacheAware
from heterodyne.routing.peers.vllm_stack_session import VllmStackSession
from heterodyne.routing.picker import Picker

PEERS: dict[str, Callable[[], Picker]] = {
    peer.name: peer
    for peer in (
        RoundRobin,
        LeastRequest,
        PowerOfTwo,
        SglangCacheAware,
        LlmD,
        LlmDSticky,
        Dynamo,
        AibrixPrefix,
        VllmStackSession,
        LitellmShuffle,
        LitellmLatency,
        LitellmCost,
    )
}
SUMMARIES: dict[str, str] = {
    RoundRobin.name: "each replica in turn",
    LeastRequest.name: "the fewest requests in flight",
    PowerOfTwo.name: "the idler of two at random, as Envoy and Ray Serve do",
    SglangCacheAware.name: "SGLang gateway: the longest prefix match above 0.3 while loads are even, else the idlest",
    LlmD.name: "llm-d default profile: queue 2, KV utilisation 2, prefix 3",
    LlmDSticky.name: "llm-d sticky until saturated: warm replicas until they lag 18 s, then the least load in tokens",
    Dynamo.name: "Dynamo KV router: the fewest prompt blocks to compute plus blocks in use",
    AibrixPrefix.name: "AIBrix prefix-cache: the longest match that is not one deviation busier than the mean",
    VllmStackSession.name: "vLLM production stack: a session stays on its replica, others go where requests are rarest",
    LitellmShuffle.name: "LiteLLM default: a replica at random",
    LitellmLatency.name: "LiteLLM latency-based: the lowest mean of the last ten, in seconds per completion token",
    LitellmCost.name: "LiteLLM cost-based: the lowest price of an input and an output token",
}
# Those that need a prompt's chain; the others never look at it.
READS_PREFIXES = frozenset((SglangCacheAware.name, LlmD.name, LlmDSticky.name, Dynamo.name, AibrixPrefix.name))
