"""How far a build may be from what it was built from, by its precision, and what is said of one that is further."""

from msgspec import Struct

from heterodyne.domain.parity import ParityMeasures


class ParityLimits(Struct, frozen=True, kw_only=True):
    """Bounds of one precision."""

    kl_nats: float
    top1_agreement: float  # at least
    perplexity_ratio: float  # either way
    tie_nats: float  # a preference up to this is a near-tie
    unexplained_share: float  # of positions


# Two to three times what sound builds of a model of 135 million parameters show (docs/parity.md, `make bench-parity`);
# larger models suffer less from few bits. Eight bits are held tightest, for there a wrong build hides worst.
_WHOLE = ParityLimits(kl_nats=0.002, top1_agreement=0.97, perplexity_ratio=1.01, tie_nats=0.1, unexplained_share=0.005)
_8_BITS = ParityLimits(kl_nats=0.006, top1_agreement=0.88, perplexity_ratio=1.03, tie_nats=0.3, unexplained_share=0.02)
_6_BITS = ParityLimits(kl_nats=0.025, top1_agreement=0.85, perplexity_ratio=1.05, tie_nats=0.4, unexplained_share=0.03)
_5_BITS = ParityLimits(kl_nats=0.25, top1_agreement=0.65, perplexity_ratio=1.4, tie_nats=1.0, unexplained_share=0.15)
_4_BITS = ParityLimits(kl_nats=0.5, top1_agreement=0.55, perplexity_ratio=1.6, tie_nats=1.5, unexplained_share=0.2)
_3_BITS = ParityLimits(kl_nats=1.2, top1_agreement=0.4, perplexity_ratio=2.5, tie_nats=2.0, unexplained_share=0.3)
# Where an engine cuts activations to eight bits too, which the reference pass does not.
_8_BITS_ALL = ParityLimits(kl_nats=0.15, top1_agreement=0.7, perplexity_ratio=1.2, tie_nats=1.0, unexplained_share=0.1)
CUT_ACTIVATIONS = {("int8", "vllm"), ("fp8", "vllm")}
LIMITS: dict[str, ParityLimits] = {
    **dict.fromkeys(("fp32", "fp16", "bf16"), _WHOLE),
    **dict.fromkeys(("q8_0", "int8"), _8_BITS),
    **dict.fromkeys(("q6_k", "fp8"), _6_BITS),  # a float of eight bits has four of them for its fraction and sign
    **dict.fromkeys(("q5_1", "q5_0", "q5_k_m", "q5_k_s"), _5_BITS),
    **dict.fromkeys(("q4_1", "q4_0", "q4_k_m", "q4_k_s", "int4", "awq", "gptq", "mxfp4", "nvfp4"), _4_BITS),
    **dict.fromkeys(("q3_k_s", "q2_k"), _3_BITS),
}


def limits_of(precision: str, run_by: str = "") -> ParityLimits:
    """Those of the precision as it is run; of one that is not known, those of eight bits."""
    if (precision, run_by) in CUT_ACTIVATIONS:
        return _8_BITS_ALL
    return LIMITS.get(precision, _8_BITS)


def breaches_of(measured: ParityMeasures, limits: ParityLimits) -> tuple[str, ...]:
    """Every bound that is broken, in words; none: it has passed."""
    ratio = measured.perplexity_ratio
    seen = {
        f"KL {measured.kl_nats:.4f} nats, at most {limits.kl_nats:g}": measured.kl_nats > limits.kl_nats,
        f"top-1 agreement {measured.top1_agreement:.1%}, at least {limits.top1_agreement:.0%}": (
            measured.top1_agreement < limits.top1_agreement
        ),
        f"perplexity {ratio:.3f} times the reference's, at most {limits.perplexity_ratio:g} either way": not (
            1 / limits.perplexity_ratio <= ratio <= limits.perplexity_ratio
        ),
        f"{measured.unexplained_share:.1%} of positions part without a near-tie, at most "
        f"{limits.unexplained_share:.1%}": measured.unexplained_share > limits.unexplained_share,
    }
    return tuple(words for words, is_broken in seen.items() if is_broken)
