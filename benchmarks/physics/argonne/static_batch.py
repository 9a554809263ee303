"""A static batch from the first prompt to the last token, as terms of the step model: what offline benchmarks time."""

from heterodyne.physics.placement import Placement
from heterodyne.physics.serving import Load, running_sequences
from heterodyne.physics.terms import Terms, decode_terms, prefill_terms

CHUNK_TOKENS = 8192


def batch_terms(placement: Placement, load: Load, *, kv_capacity_tokens: float) -> Terms:
    """The whole time of `concurrency` sequences that begin together, per output token of one of them.

    Whoever finds no memory waits for a seat, so the steps are as many more as the batch is larger than what fits.
    """
    running = running_sequences(load, kv_capacity_tokens)
    steps = max(load.output_tokens - 1.0, 1.0) * load.concurrency / running
    prompts = prompts_terms(placement, load)
    step = decode_terms(placement, running, load.context)
    return _sum((prompts, 1.0 / load.output_tokens), (step, steps / load.output_tokens))


def prompts_terms(placement: Placement, load: Load) -> Terms:
    """Every prompt of the batch; those that fit one chunk together share its launches."""
    one = prefill_terms(placement, load.prompt_tokens, chunk_tokens=CHUNK_TOKENS)
    together = min(max(CHUNK_TOKENS // load.prompt_tokens, 1.0), load.concurrency)
    whole = _sum((one, load.concurrency))
    return whole._replace(hops=whole.hops / together, prompt_layers=whole.prompt_layers / together)


def narrow_prompt_terms(placement: Placement, load: Load, *, chunk_tokens: int) -> Terms:
    """The same for one sequence whose prompt is read a few tokens at a time: each chunk is a step over the weights.

    Chunks follow each other through the stages; the answer's tokens pass all of them one by one.
    """
    stages = placement.parallelism.pp
    chunk = min(float(chunk_tokens), load.prompt_tokens)
    chunks = -(-load.prompt_tokens // chunk)
    passes = (chunks + stages - 1) / stages
    read = decode_terms(placement, 1.0, load.prompt_tokens / 2, tokens_per_sequence=chunk)
    step = decode_terms(placement, 1.0, load.context)
    steps = max(load.output_tokens - 1.0, 1.0)
    return _sum((read, passes / load.output_tokens), (step, steps / load.output_tokens))


def _sum(*parts: tuple[Terms, float]) -> Terms:
    return Terms(*(sum(terms[index] * times for terms, times in parts) for index in range(len(Terms._fields))))
