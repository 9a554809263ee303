"""Settings of how requests are kept away from replicas that fail, and how often they are sent again."""

from typing import Annotated

from msgspec import Meta, Struct

Seconds = Annotated[float, Meta(gt=0, le=86400)]
Share = Annotated[float, Meta(ge=0, le=1)]


class RoutingSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a replica is left out, how much it may carry, and what a second attempt may cost."""

    ejection_failures: Annotated[
        int, Meta(ge=1, le=1000, description="Failures in a row after which a replica is ejected from its pool.")
    ] = 5
    ejection_interval_s: Annotated[
        Seconds,
        Meta(description="How often success rates are compared, and how fast past ejections are forgiven."),
    ] = 10.0
    ejection_base_s: Annotated[
        Seconds, Meta(description="How long the first ejection lasts; the second lasts twice as long, and so on.")
    ] = 30.0
    ejection_max_s: Annotated[Seconds, Meta(description="The longest ejection.")] = 300.0
    ejection_share_max: Annotated[
        Share,
        Meta(
            description="Share of a pool's replicas ejected at once, though one of two or more may be; 0 ejects nobody."
        ),
    ] = 0.1
    ejection_probe_min_s: Annotated[
        Seconds,
        Meta(description="Times the number of ejections: when a good health probe may end an ejection early."),
    ] = 10.0
    success_rate_replicas_min: Annotated[
        int, Meta(ge=2, description="Success rates are compared when this many replicas of a pool had enough requests.")
    ] = 5
    success_rate_requests_min: Annotated[
        int, Meta(ge=1, description="Requests a replica must have had in the interval for its success rate to count.")
    ] = 100
    success_rate_sigmas: Annotated[
        float,
        Meta(gt=0, le=10, description="Standard deviations below the pool's mean at which a success rate ejects."),
    ] = 1.9
    success_rate_gap_min: Annotated[
        Share, Meta(description="A success rate closer than this to the pool's mean never ejects.")
    ] = 0.05
    panic_share: Annotated[
        Share,
        Meta(description="Below this share of usable replicas, ejections and breakers are ignored; 0 never ignores."),
    ] = 0.5
    breaker_failures: Annotated[
        int, Meta(ge=1, le=1000, description="Failures within `breaker_window_s` that open a replica's breaker.")
    ] = 10
    breaker_window_s: Annotated[Seconds, Meta(description="How long a failure counts towards the breaker.")] = 30.0
    breaker_open_s: Annotated[
        Seconds, Meta(description="How long an open breaker waits before it lets one trial request through.")
    ] = 5.0
    slow_start_s: Annotated[
        Seconds, Meta(description="How long a replica that has come back takes to reach its full weight.")
    ] = 30.0
    slow_start_share_min: Annotated[
        float, Meta(gt=0, le=1, description="Share of its full weight that a replica comes back with.")
    ] = 0.1
    concurrency_initial: Annotated[
        int, Meta(ge=1, description="Requests a replica may hold, per worker, once its speed begins to be known.")
    ] = 64
    concurrency_min: Annotated[int, Meta(ge=1, description="The lowest the learned limit of a replica may fall.")] = 4
    concurrency_max: Annotated[
        int, Meta(ge=1, description="The highest it may rise; also the limit while nothing is known.")
    ] = 1024
    concurrency_tolerance: Annotated[
        float, Meta(ge=1, le=100, description="How much slower than usual first tokens may be before the limit falls.")
    ] = 1.5
    concurrency_queue: Annotated[
        int, Meta(ge=1, le=1000, description="Requests that may wait on a replica; what the limit grows by.")
    ] = 4
    concurrency_smoothing: Annotated[
        float, Meta(gt=0, le=1, description="How far one sample moves the limit towards its new value.")
    ] = 0.2
    concurrency_samples: Annotated[
        int, Meta(ge=10, le=100000, description="Samples that make up what is usual for a replica.")
    ] = 600
    refusal_pause_s: Annotated[
        Seconds, Meta(description="Pause after a replica says it is busy; doubles while it goes on saying so.")
    ] = 0.25
    refusal_pause_max_s: Annotated[Seconds, Meta(description="The longest such pause.")] = 5.0
    retry_share: Annotated[
        Share, Meta(description="Prompt tokens that retries may repeat, as a share of those of first attempts.")
    ] = 0.2
    retry_window_s: Annotated[Seconds, Meta(description="How long a request's tokens count towards retries.")] = 10.0
    retry_reserve_tokens_per_s: Annotated[
        int, Meta(ge=0, description="Prompt tokens per second that may always be retried, however quiet a model is.")
    ] = 10000
    hedge_share: Annotated[
        Share, Meta(description="Requests that may be sent a second time while they wait for a first token.")
    ] = 0.05
    hedge_quantile: Annotated[
        float, Meta(gt=0, lt=1, description="A first token later than this quantile of its replica's is worth a hedge.")
    ] = 0.95
    hedge_factor_max: Annotated[
        float,
        Meta(
            ge=1,
            le=100,
            description="Times the expected TTFT: the latest hedge, and the one before a replica is known.",
        ),
    ] = 3.0
    hedge_min_s: Annotated[Seconds, Meta(description="No hedge sooner than this.")] = 0.1
