"""Settings of the alerts."""

from typing import Annotated, Any

from msgspec import Meta, Struct, field


class AlertSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When an operator is told, and where. Rules for Prometheus are made from the same values."""

    is_on: Annotated[bool, Meta(description="Whether alerts are judged here, for the console and for webhooks.")] = True
    slo_target: Annotated[
        float, Meta(gt=0, lt=1, description="Share of promises to keep, and of requests not to fail, of each model.")
    ] = 0.99
    ttft_p99_ms: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="The 99th percentile of a model's TTFT above which somebody is paged; absent, nobody is."),
    ] = 10_000.0
    ttft_p999_ms: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="The 99.9th percentile above which there is a ticket; absent, there is none."),
    ] = 30_000.0
    predictor_drift_max: Annotated[
        float, Meta(gt=0, description="Median |ln(actual / predicted)| of TTFT above which predictions are doubted.")
    ] = 0.25
    saturation_max: Annotated[
        float, Meta(gt=0, le=1, description="Share of a pool's room or KV memory above which it counts as full.")
    ] = 0.9
    budget_max: Annotated[
        float, Meta(gt=0, le=1, description="Share of a limit in dollars above which there is a ticket.")
    ] = 0.9
    drift_interval_s: Annotated[
        Annotated[float, Meta(ge=10)] | None,
        Meta(
            description="Seconds between questions to every replica, by which moved answers are noticed; absent, none "
            "are asked. Each look costs four answers of 16 tokens a replica."
        ),
    ] = None
    drift_max_nats: Annotated[
        float,
        Meta(gt=0, description="KL divergence of a replica's answers from its first ones above which it drifts."),
    ] = 0.05
    webhooks: Annotated[
        dict[str, dict[str, Any]],
        Meta(
            description="Who is told, as [alerts.webhooks.NAME]: `url` or, as an address may be a secret, `url_env`, "
            "a variable that holds it; `format` generic or slack; `min_severity` ticket or page; `headers_env`, a "
            "table of headers and the variables that hold their values."
        ),
    ] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Without addresses, which may be secrets."""
        return f"AlertSettings(is_on={self.is_on}, slo_target={self.slo_target}, webhooks={sorted(self.webhooks)})"
