"""Every metric Heterodyne exports. Names are chosen once: dashboards remember them."""

from heterodyne.telemetry.meters import Counter, Gauge, Histogram, Meter, SharedCounter, SharedGauge

# Eight buckets to a factor of ten: each ends at most 43 % above the one before, so an interpolated quantile is off by
# a fifth at worst. 1, 2, 2.5 and 5 are ends because promises are round numbers: how many were kept reads off exactly.
_STEPS = (1.0, 1.25, 1.6, 2.0, 2.5, 3.5, 5.0, 7.0)


def _bounds(first: float, last: float) -> tuple[float, ...]:
    """The steps from one number to another, both included, over as many factors of ten as that takes."""
    numbers = (float(f"{step}e{ten}") for ten in range(-5, 3) for step in _STEPS)
    return (*(number for number in numbers if first <= number < last), last)


SECONDS = _bounds(0.001, 600.0)
ITL_SECONDS = _bounds(0.0005, 10.0)
OVERHEAD_SECONDS = (
    *(20e-6, 30e-6, 50e-6, 70e-6, 100e-6, 150e-6, 200e-6, 300e-6, 500e-6, 700e-6),
    *(0.001, 0.0015, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05),
)
CONNECT_SECONDS = (20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)
TURN_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
TOKENS = (1.0, 4.0, 16.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 65536.0, 262144.0)
# Actual over predicted; one bucket up and one down of the same length mean the same error.
RATIOS = (
    *(0.1, 0.2, 0.33, 0.5, 0.62, 0.71, 0.8, 0.87, 0.95),
    *(1.05, 1.15, 1.25, 1.4, 1.6, 2.0, 3.0, 5.0, 10.0),
)

# Who asks is no label: tenants and keys may be many thousands, their tiers are three.
CLIENT = ("model", "pool", "hardware", "class", "tier")
REQUEST = (*CLIENT, "operation")
ENGINE = ("pool", "replica", "hardware")
POOL = ("pool", "hardware")
DEVICE = ("pool", "hardware", "device")

requests = Counter(
    "heterodyne_gateway_requests_total",
    "Requests that have ended, refused ones included, by HTTP status, by reason when the answer was an error, and by "
    "outcome. A refusal has no pool, and no model where none of the name is served.",
    (*REQUEST, "status", "reason", "outcome"),
)
guard_verdicts = Counter(
    "heterodyne_gateway_guard_verdicts_total",
    "What policies found in requests and answers, by what was done about it.",
    ("policy", "guard", "rule", "action", "direction"),
)
guard_failures = Counter(
    "heterodyne_gateway_guard_failures_total",
    "Requests and answers that no guard could look at; those of policies that mask or block were refused, unless a "
    "policy lets pass what a guard elsewhere gave no verdict on.",
    ("direction",),
)
handshake_failures = Counter(
    "heterodyne_gateway_tls_handshake_failures_total",
    "Connections that TLS did not let in, by what was wrong: with the certificate of the client, with the version or "
    "the ciphers it speaks, or because it does not speak TLS.",
    ("reason",),
)
tokens_refused = Counter(
    "heterodyne_identity_tokens_refused_total",
    "Tokens of other issuers that did not open, by issuer (`unknown`: none that is trusted) and by what was wrong.",
    ("issuer", "reason"),
)
issuer_fetches = Counter(
    "heterodyne_identity_issuer_fetches_total",
    "How often an issuer was asked for its keys, by outcome: `told`, or `failed`, when those it told last go on to "
    "hold.",
    ("issuer", "outcome"),
)
certificate_ends = Gauge(
    "heterodyne_certificate_expires_timestamp_seconds",
    "When a certificate that we show is over, by the setting that names it.",
    ("setting",),
)
region_round_trip = SharedGauge(
    "heterodyne_fleet_region_round_trip_seconds",
    "How far away a region is: the least that the health page of one of its replicas took in the last minutes.",
    ("region",),
)
discovery_heard = Gauge(
    "heterodyne_fleet_discovery_heard_timestamp_seconds",
    "When the cluster of a pool that is discovered was last known to be as it is here; it serves on as it was then.",
    ("pool",),
)
replicas_told = Gauge(
    "heterodyne_fleet_replicas_told",
    "How many replicas a pool should have that KEDA or a HorizontalPodAutoscaler scales, as the autoscaler has it.",
    ("pool",),
)
discovery_problems = Gauge(
    "heterodyne_fleet_discovery_problems",
    "What keeps replicas of a discovered pool away, or is not known of them, by what it is.",
    ("pool", "problem"),
)
certificate_failures = Counter(
    "heterodyne_certificate_failures_total",
    "Files of certificates that were written anew and could not be taken; the last ones go on to hold.",
    ("setting",),
)
scaling_steps = Counter(
    "heterodyne_scaling_steps_total",
    "Steps of the autoscaler, by pool, what was to be done, why, and whether it was (`done`, or `not-done` in a dry "
    "run, while paused, or because the driver refused).",
    ("pool", "step", "reason", "outcome"),
)
scaling_needed = Gauge(
    "heterodyne_scaling_needed_requests_per_second",
    "What has to be carried by the time that another replica is ready, in requests of the usual length.",
    ("model",),
)
scaling_carried = Gauge(
    "heterodyne_scaling_carried_requests_per_second",
    "What the replicas that are there or coming carry within the promise, as far as that is believed.",
    ("model",),
)
scaling_short = Gauge(
    "heterodyne_scaling_is_short",
    "1 while more is needed than is carried by replicas that are there or coming, and something is in the way of more.",
    ("model",),
)
scaling_most = Gauge(
    "heterodyne_scaling_most_requests_per_second",
    "What would be carried by all replicas that `maximum`, the driver and the budget allow.",
    ("model",),
)
scaling_paused = Gauge("heterodyne_scaling_is_paused", "1 while an operator has paused it.", ("model",))
scaling_driver_away = Gauge(
    "heterodyne_scaling_driver_away_seconds",
    "For so long whoever starts the pool's replicas has not answered; 0 while it does.",
    ("pool",),
)
scaling_wanted = Gauge("heterodyne_scaling_replicas_wanted", "Replicas that were asked for.", ("pool",))
scaling_cold_start = Gauge(
    "heterodyne_scaling_cold_start_seconds",
    "The usual time from asking for a replica to its being ready: the median of those measured.",
    ("pool",),
)
abuse_findings = Counter(
    "heterodyne_abuse_findings_total",
    "Keys that a policy against abuse has found, by what it watches, the rule, and what follows.",
    ("policy", "watch", "rule", "action"),
)
abuse_keys = Gauge(
    "heterodyne_abuse_keys",
    "Keys that a policy against abuse has found, until it lets them go, by what it does.",
    ("policy", "action"),
)
abuse_signs_dropped = Counter(
    "heterodyne_gateway_abuse_signs_dropped_total",
    "Requests that policies against abuse were not told of, or not the prompt of: too many waited to be read (queue), "
    "their prompts were too large together (body), or the supervisor did not take them (socket).",
    ("reason",),
)
cache_answers = Counter(
    "heterodyne_gateway_cache_answers_total",
    "Requests that an answer was looked up for: there was one (hit), there was one to a prompt that means the same "
    "(similar), there was none (miss), or the same request was being answered and was waited for (followed).",
    ("cache", "model", "outcome"),
)
cache_saved_usd = Counter(
    "heterodyne_gateway_cache_saved_usd_total",
    "What answers from the cache cost when replicas gave them.",
    ("cache", "model"),
)
cache_entries_refused = Counter(
    "heterodyne_gateway_cache_entries_refused_total",
    "Answers in the shared store that were cut, changed, or sealed with another key; replicas were asked instead.",
    (),
)
semantic_cache_decisions = Counter(
    "heterodyne_gateway_semantic_cache_decisions_total",
    "What the semantic cache decided: to serve, to ask a replica (ask), to ask although it would serve, for the count "
    "of errors (explore), or to ask because it serves nothing yet (shadow).",
    ("cache", "model", "action"),
)
semantic_cache_compared = Counter(
    "heterodyne_gateway_semantic_cache_compared_total",
    "Kept answers that were compared with a replica's to the prompt that they were near to, by why it was asked.",
    ("cache", "model", "action", "outcome"),
)
semantic_cache_requests = Gauge(
    "heterodyne_gateway_semantic_cache_requests",
    "Requests that the accounts of wrong answers are about: those since a worker began, or a policy began to serve.",
    ("cache",),
)
semantic_cache_wrong_max = Gauge(
    "heterodyne_gateway_semantic_cache_wrong_max",
    "Of these, the most that got a wrong answer, with the confidence of the policy; in shadow, that would have.",
    ("cache",),
)
semantic_cache_prompts = Gauge("heterodyne_gateway_semantic_cache_prompts", "Prompts whose answers others may get.", ())
cascade_decisions = Counter(
    "heterodyne_gateway_cascade_decisions_total",
    "Which model a cascade let answer (cheap or big), by the name that was asked for and why.",
    ("cascade", "model", "reason"),
)
cascade_usd = Counter(
    "heterodyne_gateway_cascade_usd_total",
    "Dollars of a cascade: the cheap model with its judges (tried), the big model where it answered (big), and what it "
    "would have cost where it did not (instead), as it was predicted.",
    ("cascade", "part"),
)
cascade_seconds = Counter(
    "heterodyne_gateway_cascade_seconds_total",
    "Time of a cascade's answers: as they took it (answered), and as the big model alone would have (instead), which "
    "is predicted where it was not asked.",
    ("cascade", "part"),
)
cascade_audits = Counter(
    "heterodyne_gateway_cascade_audits_total",
    "Kept answers that the big model was asked for as well: the same, different, or not known.",
    ("cascade", "outcome"),
)
cache_bytes = Gauge("heterodyne_gateway_cache_bytes", "Memory that kept answers take.", ())
cache_entries = Gauge("heterodyne_gateway_cache_entries", "Answers that are kept.", ())
in_flight = Gauge("heterodyne_gateway_requests_in_flight", "Requests being answered now.", ("model", "pool", "replica"))
ttft = Histogram(
    "heterodyne_gateway_ttft_seconds",
    "From the decision to the first token of a streamed answer.",
    REQUEST,
    bounds=SECONDS,
)
itl = Histogram(
    "heterodyne_gateway_itl_seconds",
    "Mean gap between the events of one stream.",
    REQUEST,
    bounds=ITL_SECONDS,
)
duration = Histogram(
    "heterodyne_gateway_request_seconds", "From the complete request to the end of the answer.", REQUEST, bounds=SECONDS
)
prompt_tokens = Counter("heterodyne_gateway_prompt_tokens_total", "Prompt tokens of answered requests.", REQUEST)
cached_tokens = Counter(
    "heterodyne_gateway_cached_tokens_total", "Prompt tokens the engine took from its prefix cache.", REQUEST
)
completion_tokens = Counter("heterodyne_gateway_completion_tokens_total", "Tokens generated.", REQUEST)
completion_length = Histogram(
    "heterodyne_gateway_completion_tokens", "Tokens generated per answer.", REQUEST, bounds=TOKENS
)
refusals = Counter(
    "heterodyne_gateway_refusals_total",
    "Answers given before a replica was asked, by reason, and by tier where it was known who asks.",
    ("reason", "tier"),
)
queue = Histogram(
    "heterodyne_gateway_queue_seconds",
    "How long requests that a replica was asked for had waited here for their turn, where they had to.",
    REQUEST,
    bounds=SECONDS,
)
slo_outcomes = Counter(
    "heterodyne_gateway_promises_total",
    "Requests with a promise of latency that a replica was asked for, by whether it was kept; those that failed "
    "through their client, or whose client left early, are not among them.",
    (*CLIENT, "outcome"),
)
overhead = Histogram(
    "heterodyne_gateway_overhead_seconds",
    "The gateway's own work, from the complete request to asking for a connection, less the wait for its turn.",
    ("model", "pool"),
    bounds=OVERHEAD_SECONDS,
)
connect = Histogram(
    "heterodyne_gateway_connect_seconds",
    "From asking for a connection to sending the request on it, of the attempt that answered.",
    ("pool",),
    bounds=CONNECT_SECONDS,
)
usd = Counter(
    "heterodyne_gateway_usd_total",
    "Dollars of the replicas' time, or of the hosted tokens, that requests used; without those nobody has a price for.",
    CLIENT,
)
replica_seconds = Counter(
    "heterodyne_gateway_replica_seconds_total",
    "Seconds of replicas that requests used, as their tokens share them with a batch.",
    ("model", "pool", "hardware"),
)
ttft_prediction = Histogram(
    "heterodyne_gateway_ttft_prediction_ratio",
    "Actual over predicted time to the first token of answered requests; those sent again elsewhere are left out.",
    ("pool",),
    bounds=RATIOS,
)
retries = Counter("heterodyne_gateway_retries_total", "Requests sent again before their first byte.", ("model", "pool"))
attempts_failed = Counter(
    "heterodyne_gateway_attempts_failed_total",
    "Attempts on a replica that gave no whole answer, by what they ended as.",
    ("model", "pool", "outcome"),
)
hedges = Counter(
    "heterodyne_gateway_hedges_total", "Second attempts sent because a first token was late.", ("model", "pool")
)
continuations = Counter(
    "heterodyne_gateway_continuations_total", "Broken streams that another replica went on with.", ("model", "pool")
)
queue_depth = Gauge(
    "heterodyne_admission_queue_depth",
    "Requests waiting here for their turn, as the model is full.",
    ("model", "class"),
)
queue_wait = Histogram(
    "heterodyne_admission_queue_seconds",
    "How long requests that had to wait for their turn did, whatever became of them.",
    ("model", "class", "tier"),
    bounds=SECONDS,
)
build_info = SharedGauge(
    "heterodyne_build_info",
    "1, with the version and whether its hot files are compiled.",
    ("version", "form"),
)
connections = Gauge("heterodyne_gateway_client_connections", "Open client connections.")
body_bytes = Gauge("heterodyne_gateway_body_bytes", "Request bodies held in memory.")
held = Gauge(
    "heterodyne_gateway_held",
    "What requests hold now: places, tickets, reservations, slots. All zero while nobody asks anything.",
    ("what",),
)
loop_turn = SharedGauge(
    "heterodyne_gateway_loop_turn_seconds",
    "The longest turn of a worker's event loop in the last minute, in which it served nobody else: by the wall's "
    "clock, and as processor time of its own.",
    ("clock",),
)
loop_slow_turns = Histogram(
    "heterodyne_gateway_loop_slow_turn_seconds",
    "Turns of a worker's event loop of more than 5 ms.",
    ("clock",),
    bounds=TURN_SECONDS,
)
engine_connections = Gauge(
    "heterodyne_gateway_engine_connections", "Connections to replicas, by state.", ("replica", "state")
)
token_estimate_error = Gauge(
    "heterodyne_gateway_token_estimate_error_ratio",
    "Smoothed relative error of the prompt token estimate.",
    ("model",),
)
replica_ready = Gauge("heterodyne_fleet_replica_ready", "Workers that see the replica ready.", ("pool", "replica"))
replica_restarts = Counter(
    "heterodyne_fleet_replica_restarts_total",
    "Restarts of the replica that its start time or counters gave away; every worker counts what it sees.",
    ("pool", "replica"),
)
replica_drift = Gauge(
    "heterodyne_fleet_replica_drift_nats",
    "KL divergence of the replica's answers to a few fixed questions from its first ones.",
    ("pool", "replica"),
)
probe_seconds = Histogram(
    "heterodyne_fleet_probe_seconds",
    "How long replicas took to answer, or not to answer, the health probe.",
    ("pool",),
    bounds=SECONDS,
)
load_age = SharedGauge(
    "heterodyne_fleet_load_age_seconds",
    "How old the reading of the replica's load had become when the replica was last looked at.",
    ENGINE,
)
engine_running = SharedGauge(
    "heterodyne_fleet_engine_running", "Sequences in the engine's batch, which is its batch size, as it says.", ENGINE
)
engine_waiting = SharedGauge(
    "heterodyne_fleet_engine_waiting", "Requests the engine has accepted and not begun, as it says.", ENGINE
)
engine_kv_ratio = SharedGauge(
    "heterodyne_fleet_engine_kv_ratio", "Share of the engine's KV memory in use, 0 to 1, as it says.", ENGINE
)
engine_prefix_hit_ratio = SharedGauge(
    "heterodyne_fleet_engine_prefix_hit_ratio",
    "Share of the prompt tokens looked up in the engine's prefix cache that were there, since it started.",
    ENGINE,
)
engine_prompt_tokens = SharedCounter(
    "heterodyne_fleet_engine_prompt_tokens_total", "Prompt tokens the engine has computed, as it counts them.", ENGINE
)
engine_output_tokens = SharedCounter(
    "heterodyne_fleet_engine_output_tokens_total", "Tokens the engine has generated, as it counts them.", ENGINE
)
engine_prefix_query_tokens = SharedCounter(
    "heterodyne_fleet_engine_prefix_query_tokens_total",
    "Prompt tokens looked up in the engine's prefix cache, as it counts them.",
    ENGINE,
)
engine_prefix_hit_tokens = SharedCounter(
    "heterodyne_fleet_engine_prefix_hit_tokens_total",
    "Prompt tokens found in the engine's prefix cache, as it counts them.",
    ENGINE,
)
replicas = Gauge("heterodyne_fleet_replicas", "Replicas, by what they are doing.", (*POOL, "state"))
usd_per_second = Gauge(
    "heterodyne_fleet_usd_per_second",
    "What replicas that are paid by the hour cost, busy or not; those that are down are left out.",
    POOL,
)
usd_per_million_tokens = Gauge(
    "heterodyne_fleet_usd_per_million_tokens",
    "Dollars per million tokens, prompt and answer, since midnight, UTC: of the time that requests used (busy), and of "
    "all the time that was paid for (paid).",
    (*POOL, "what"),
)
accelerator_utilisation = Gauge(
    "heterodyne_fleet_accelerator_utilisation_ratio", "Share of the time the device is at work, 0 to 1.", DEVICE
)
accelerator_memory_used = Gauge(
    "heterodyne_fleet_accelerator_memory_used_bytes", "Memory of the device in use.", DEVICE
)
accelerator_memory_total = Gauge("heterodyne_fleet_accelerator_memory_total_bytes", "Memory of the device.", DEVICE)
accelerator_power = Gauge("heterodyne_fleet_accelerator_power_watts", "Power the device draws.", DEVICE)
accelerator_temperature = Gauge(
    "heterodyne_fleet_accelerator_temperature_celsius", "Temperature of the device.", DEVICE
)
limit_used = Gauge(
    "heterodyne_admission_limit_used_ratio",
    "Share of a limit that is used, for the fifty most used limits of organisations and projects and no others.",
    ("level", "limit"),
)
batches_open = Gauge(
    "heterodyne_batches_open",
    "Batches that are not over, by status, of the two hundred oldest in the database; gateways that share one tell the "
    "same.",
    ("status",),
)
batches_late = Gauge("heterodyne_batches_late", "Those of them that are not expected to be done in their window.")
adapter_loads = Counter(
    "heterodyne_fleet_adapter_loads_total", "LoRA adapters that replicas were given.", ("model", "pool")
)
adapter_unloads = Counter(
    "heterodyne_fleet_adapter_unloads_total", "LoRA adapters taken from replicas to make room.", ("model", "pool")
)
adapter_failures = Counter(
    "heterodyne_fleet_adapter_failures_total",
    "LoRA adapters that a replica could not be given, by why.",
    ("model", "pool", "reason"),
)
adapter_load_seconds = Histogram(
    "heterodyne_fleet_adapter_load_seconds",
    "From the first request that waits for a LoRA adapter to the replica that has it.",
    ("model", "pool"),
    bounds=SECONDS,
)
KV_LABELS = ("model", "pool", "origin")  # the pool that was to get it
kv_transfers = Counter(
    "heterodyne_kv_transfers_total",
    "Prompts whose KV was to be brought to a replica instead of being computed there, by where from and what came of "
    "it.",
    (*KV_LABELS, "outcome"),
)
kv_bytes = Counter("heterodyne_kv_bytes_total", "Bytes of KV that were brought, by where from.", KV_LABELS)
kv_seconds = Histogram(
    "heterodyne_kv_seconds",
    "From the wish for KV to its arrival; of KV that engines fetch by themselves, to the first token.",
    KV_LABELS,
    bounds=SECONDS,
)
kv_warm_ups = Counter(
    "heterodyne_kv_warm_ups_total",
    "Prompts that new replicas were given before users were sent there, by what came of it.",
    ("model", "pool", "outcome"),
)
kv_warm_up_seconds = Histogram(
    "heterodyne_kv_warm_up_seconds",
    "How long that has kept a replica from being given work.",
    ("model", "pool"),
    bounds=SECONDS,
)
kv_prefetches = Counter(
    "heterodyne_kv_prefetches_total",
    "Conversations whose KV was brought to a replica of the pool shortly before their next turn was likely, by whether "
    "that came there.",
    ("model", "pool", "outcome"),
)
kv_abandoned = Counter(
    "heterodyne_kv_abandoned_total",
    "Prompts that a prefill replica of the pool has handed over and nobody was to read, by what became of their KV: "
    "another replica has read it, so that it was let go of, or it was left until its lease ended.",
    ("model", "pool", "outcome"),
)
kv_slots_handed_over = Counter(
    "heterodyne_kv_slots_handed_over_total",
    "Slots of replicas that drain, whose KV was to be saved for others, by what came of it.",
    ("model", "pool", "outcome"),
)
kv_saved_seconds = Gauge(
    "heterodyne_kv_saved_seconds",
    "Of time to first tokens, that bringing KV has saved against computing it, by where from; below 0 where it has "
    "cost time. What computing takes is forecast, and corrected by the one request in a hundred that computes.",
    ("origin",),
)
kv_saved_usd = Gauge("heterodyne_kv_saved_usd", "The same in dollars, as forecast.", ("origin",))
REPLICA = ("pool", "replica")
ejected = SharedGauge("heterodyne_routing_ejected", "1 while a worker has ejected the replica.", REPLICA)
ejections = Counter("heterodyne_routing_ejections_total", "How often a replica was ejected.", REPLICA)
ejections_refused = Counter(
    "heterodyne_routing_ejections_refused_total", "Ejections that the share of the pool did not allow.", ("pool",)
)
breaker_open = SharedGauge(
    "heterodyne_routing_breaker_open", "1 while a replica's breaker is open, 0.5 while half-open.", REPLICA
)
weight = SharedGauge(
    "heterodyne_routing_weight_ratio", "Share of its usual work a replica gets; below 1 in slow start.", REPLICA
)
in_flight_limit = Gauge(
    "heterodyne_routing_in_flight_limit", "Requests a replica may hold, as its speed shows; all workers.", REPLICA
)
provider_remaining = SharedGauge(
    "heterodyne_routing_provider_remaining",
    "What should be left of a provider's rate limit on requests or tokens, by its latest answer.",
    (*REPLICA, "what"),
)
panic = SharedGauge(
    "heterodyne_routing_panic", "1 while too few replicas are in good standing for standing to count.", ("model",)
)
retry_tokens = Counter("heterodyne_routing_retry_tokens_total", "Prompt tokens sent again elsewhere.", ("model",))
retries_refused = Counter(
    "heterodyne_routing_retries_refused_total", "Retries that the budget did not allow.", ("model",)
)
hedges_refused = Counter("heterodyne_routing_hedges_refused_total", "Hedges that the budget did not allow.", ("model",))
decisions = Counter(
    "heterodyne_routing_decisions_total", "Replicas chosen for requests, by why.", ("model", "pool", "reason")
)
prediction_error = SharedGauge(
    "heterodyne_routing_prediction_error_ratio",
    "Smoothed |ln(actual / predicted)|: of the TTFT of requests that need not queue, and of the time between tokens.",
    ("pool", "what"),
)
forecasts = Counter(
    "heterodyne_routing_forecasts_total",
    "Forecasts that were learned from, by what of (ttft, itl), and whether what came was within the span that was "
    "told (within, outside), which is to hold eight of ten.",
    ("pool", "what", "outcome"),
)
prefix_entries = Gauge(
    "heterodyne_routing_prefix_entries",
    "Blocks in the prefix index, counted once for every replica that holds them and every worker that knows.",
)
prefix_trust = SharedGauge(
    "heterodyne_routing_prefix_trust", "How far the prefix index is believed about a replica, 0 to 1.", REPLICA
)
kv_events = Counter(
    "heterodyne_routing_kv_events_total",
    "KV events heard from a replica; every worker counts what it hears.",
    ("replica", "kind"),
)
kv_gaps = Counter(
    "heterodyne_routing_kv_gaps_total",
    "How often KV events of a replica were lost for good or could not be read; every worker counts its own.",
    ("replica",),
)
gossip_sent = Counter(
    "heterodyne_routing_hearsay_sent_total", "Messages about computed prompts sent to other workers, one for each."
)
gossip_received = Counter("heterodyne_routing_hearsay_heard_total", "Such messages read from other workers.")
gossip_dropped = Counter(
    "heterodyne_routing_hearsay_dropped_total",
    "What workers did not learn of each other: messages another had no room for (full) or could not read (malformed), "
    "and prompts that were not told in time (overflow).",
    ("reason",),
)
leader = SharedGauge(
    "heterodyne_supervisor_leader", "1 at the gateway that runs what only one of several may run, 0 at the others."
)
reloads = Counter(
    "heterodyne_supervisor_reloads_total",
    "What came of settings that were read again, by outcome: taken, refused (they are bad), differs (other gateways "
    "have others, or one of them refused), failed (taken, and not by every worker), undone (another gateway failed).",
    ("outcome",),
)
settings_info = SharedGauge(
    "heterodyne_supervisor_settings_info",
    "1, with the version of the settings that this gateway works by: the same at all gateways that a reload would not "
    "change.",
    ("version",),
)
settings_apart = SharedGauge(
    "heterodyne_supervisor_settings_apart",
    "Gateways, of those that are heard of, that work by another version of the settings than this one.",
)
report_peers = SharedGauge(
    "heterodyne_routing_report_peers",
    "Workers, of this and other gateways, whose reports of the fleet count now; 0 where `stores.fleet_url` is not set "
    "or nobody else is heard.",
)
report_age = SharedGauge(
    "heterodyne_routing_report_age_seconds", "How old the oldest report is that counts; older ones are forgotten."
)
reports_away = SharedGauge(
    "heterodyne_routing_reports_away",
    "1 while the store of `stores.fleet_url` does not answer a worker, which then goes by what it sends itself.",
)
report_bytes = Counter(
    "heterodyne_routing_report_bytes_total", "What went to that store, and what was heard from it.", ("direction",)
)
report_failures = Counter(
    "heterodyne_routing_report_failures_total", "Turns in which that store did not answer in time."
)
reports_malformed = Counter("heterodyne_routing_reports_malformed_total", "Reports that could not be read.")
records_dropped = Counter(
    "heterodyne_telemetry_records_dropped_total", "Request records lost because the writer fell behind."
)
writes_failed = Counter(
    "heterodyne_telemetry_writes_failed_total",
    "Small files that the disk did not take: what workers see (view) and count (meters), tenants for them (tenants), "
    "counters of limits (limits), request records (records). They are written again when there is something newer.",
    ("kind",),
)
batch_lines = Counter(
    "heterodyne_batches_lines_total", "Lines of batches that have a result, by whether it is an answer.", ("result",)
)
loop_failures = Counter(
    "heterodyne_telemetry_loop_failures_total",
    "Errors that reached the root of background work, which went on after a pause; the log says what they were.",
    ("loop",),
)
spans_exported = Counter("heterodyne_telemetry_spans_exported_total", "Spans of traces that the collector has taken.")
spans_dropped = Counter(
    "heterodyne_telemetry_spans_dropped_total",
    "Spans lost: no room to wait (full), no collector when the gateway ended (unreachable), refused by it (rejected); "
    "and, once for each trace, those never made because of `telemetry.traces_per_second_max` (rate).",
    ("reason",),
)

books_collected = Counter("heterodyne_books_collected_total", "Usage records that the store had not seen before.")
books_repeated = Counter("heterodyne_books_repeated_total", "Usage records collected again, and counted once.")
books_recovered = Counter(
    "heterodyne_books_recovered_total", "Requests of dead workers that were written down from their slots."
)
books_damaged = Counter(
    "heterodyne_books_damaged_segments_total", "Spool files with bytes that are no records; they are kept."
)
books_backlog = Gauge("heterodyne_books_backlog_bytes", "Usage that waits on the disk for the store.")
books_backlog_max = Gauge("heterodyne_books_backlog_bytes_max", "How much may wait before requests are refused.")
books_stalled = Gauge("heterodyne_books_stalled", "1 while the store takes no usage.")
audit_writing = Gauge(
    "heterodyne_audit_writing", "1 while this gateway writes the audit log, 0 while another does or nobody can."
)
audit_entries = Gauge("heterodyne_audit_entries", "Number of the last entry of the audit log.")
audit_collected = Counter("heterodyne_audit_collected_total", "Entries that workers had spooled.")
audit_failures = Counter(
    "heterodyne_audit_failures_total", "Times that entries could not be added, or an anchor not be put."
)
audit_stalled = Gauge(
    "heterodyne_audit_stalled", "1 while the last attempt to add entries or put an anchor has failed."
)
worker_restarts = Counter(
    "heterodyne_gateway_worker_restarts_total", "Gateway workers that ended and were started again."
)
alerts_firing = Gauge("heterodyne_alerts_firing", "Subjects that an alert fires about now.", ("name", "severity"))
rollout_share = Gauge(
    "heterodyne_rollout_share", "Of conversations that begin, those that a rollout's candidate gets.", ("model",)
)
rollout_stage = Gauge("heterodyne_rollout_stage", "1 for the stage that a model's rollout is in.", ("model", "stage"))
rollouts_ended = Counter(
    "heterodyne_rollouts_ended_total",
    "Rollouts that ended here: the candidate has everything (completed), was taken back (rolled_back), or was taken "
    "back by hand (aborted).",
    ("model", "outcome"),
)
sign_ins_failed = Counter(
    "heterodyne_console_sign_ins_failed_total",
    "Wrong keys at the admin port, by how they were brought: to sign in (session), or with a request (bearer).",
    ("how",),
)
alerts_webhooks = Counter(
    "heterodyne_alerts_webhooks_total",
    "Notices for webhooks: sent; tried again (retried); given up as the webhook did not answer (failed) or would not "
    "have it (refused); or pushed out by later ones (dropped).",
    ("outcome",),
)

ALL: tuple[Meter, ...] = (
    build_info,
    requests,
    guard_verdicts,
    guard_failures,
    abuse_findings,
    abuse_keys,
    abuse_signs_dropped,
    handshake_failures,
    region_round_trip,
    certificate_ends,
    certificate_failures,
    tokens_refused,
    issuer_fetches,
    scaling_steps,
    scaling_needed,
    scaling_carried,
    scaling_short,
    scaling_most,
    scaling_paused,
    scaling_driver_away,
    scaling_wanted,
    scaling_cold_start,
    discovery_heard,
    discovery_problems,
    replicas_told,
    cache_answers,
    cache_saved_usd,
    cache_entries_refused,
    semantic_cache_decisions,
    semantic_cache_compared,
    semantic_cache_requests,
    semantic_cache_wrong_max,
    semantic_cache_prompts,
    cascade_decisions,
    cascade_usd,
    cascade_seconds,
    cascade_audits,
    cache_bytes,
    cache_entries,
    in_flight,
    ttft,
    itl,
    duration,
    prompt_tokens,
    cached_tokens,
    completion_tokens,
    completion_length,
    refusals,
    queue,
    slo_outcomes,
    overhead,
    connect,
    usd,
    replica_seconds,
    ttft_prediction,
    retries,
    attempts_failed,
    hedges,
    continuations,
    queue_depth,
    queue_wait,
    connections,
    body_bytes,
    held,
    loop_turn,
    loop_slow_turns,
    engine_connections,
    token_estimate_error,
    replica_ready,
    replica_restarts,
    probe_seconds,
    load_age,
    engine_running,
    engine_waiting,
    engine_kv_ratio,
    engine_prefix_hit_ratio,
    engine_prompt_tokens,
    engine_output_tokens,
    engine_prefix_query_tokens,
    engine_prefix_hit_tokens,
    replicas,
    usd_per_second,
    usd_per_million_tokens,
    replica_drift,
    accelerator_utilisation,
    accelerator_memory_used,
    accelerator_memory_total,
    accelerator_power,
    accelerator_temperature,
    limit_used,
    batches_open,
    batches_late,
    adapter_loads,
    adapter_unloads,
    adapter_failures,
    adapter_load_seconds,
    kv_transfers,
    kv_bytes,
    kv_seconds,
    kv_warm_ups,
    kv_warm_up_seconds,
    kv_prefetches,
    kv_abandoned,
    kv_slots_handed_over,
    kv_saved_seconds,
    kv_saved_usd,
    ejected,
    ejections,
    ejections_refused,
    breaker_open,
    weight,
    in_flight_limit,
    provider_remaining,
    panic,
    retry_tokens,
    retries_refused,
    hedges_refused,
    decisions,
    prediction_error,
    forecasts,
    prefix_entries,
    prefix_trust,
    kv_events,
    kv_gaps,
    gossip_sent,
    gossip_received,
    gossip_dropped,
    leader,
    reloads,
    settings_info,
    settings_apart,
    report_peers,
    report_age,
    reports_away,
    report_bytes,
    report_failures,
    reports_malformed,
    records_dropped,
    writes_failed,
    batch_lines,
    loop_failures,
    spans_exported,
    spans_dropped,
    books_collected,
    books_repeated,
    books_recovered,
    books_damaged,
    books_backlog,
    books_backlog_max,
    books_stalled,
    audit_writing,
    audit_entries,
    audit_collected,
    audit_failures,
    audit_stalled,
    worker_restarts,
    alerts_firing,
    alerts_webhooks,
    rollout_share,
    rollout_stage,
    rollouts_ended,
    sign_ins_failed,
)
NAMES_TENANTS: tuple[Meter, ...] = (limit_used,)  # in its labels: nothing for strangers
WITHOUT_TENANTS: tuple[Meter, ...] = tuple(meter for meter in ALL if meter not in NAMES_TENANTS)
