"""What clients may send to an engine beside OpenAI's API: fields that shape their own answer and nothing else.

Whatever names an address, a file, an adapter, a template, code, a place in a queue or in a cache is the operator's; so
is what has not been looked at. A name lets everything below it pass, `a.b` that member alone.
"""

from collections.abc import Iterable

SAMPLING = frozenset({"top_k", "min_p", "repetition_penalty", "ignore_eos"})
LEAST = frozenset({"min_tokens"})
STOPPING = frozenset({"stop_token_ids", "include_stop_str_in_output", "skip_special_tokens"})
# Variables of the model's own template; not `chat_template`, `tokenize` and the like, which some engines take here too.
THINKING = frozenset(
    {
        "chat_template_kwargs.enable_thinking",
        "chat_template_kwargs.thinking",
        "chat_template_kwargs.thinking_budget",
        "chat_template_kwargs.reasoning_effort",
    }
)
FORMAT = frozenset({"response_format"})  # of text completions; chat has it from OpenAI
LAST_MESSAGE = frozenset({"add_generation_prompt", "continue_final_message"})

# Hosted providers and engines without a file here: what several of them take.
OPENAI = (
    SAMPLING
    | LEAST
    | THINKING
    | {"stop_token_ids", "skip_special_tokens", "thinking", "enable_thinking", "thinking_budget", "reasoning"}
    | {"include_reasoning"}
)
VLLM = (
    SAMPLING
    | LEAST
    | STOPPING
    | THINKING
    | FORMAT
    | LAST_MESSAGE
    | {"use_beam_search", "length_penalty", "spaces_between_special_tokens", "truncate_prompt_tokens", "bad_words"}
    | {"prompt_logprobs", "allowed_token_ids", "add_special_tokens", "return_tokens_as_token_ids", "return_token_ids"}
    | {"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "structural_tag"}
    | {"documents", "echo", "include_reasoning", "thinking_token_budget", "truncation_side", "repetition_detection"}
)
SGLANG = (
    SAMPLING
    | LEAST
    | THINKING
    | FORMAT
    | LAST_MESSAGE
    | {"stop_token_ids", "stop_regex", "no_stop_trim", "skip_special_tokens", "regex", "ebnf", "json_schema"}
    | {"structural_tag", "separate_reasoning", "stream_reasoning"}
)
TENSORRT_LLM = (
    SAMPLING
    | LEAST
    | STOPPING
    | THINKING
    | FORMAT
    | {"add_generation_prompt", "add_special_tokens", "length_penalty", "early_stopping", "use_beam_search"}
    | {"spaces_between_special_tokens", "truncate_prompt_tokens", "top_p_min", "documents", "detokenize"}
)
TGI: frozenset[str] = frozenset()
LMDEPLOY = (
    SAMPLING | THINKING | {"skip_special_tokens", "spaces_between_special_tokens", "min_new_tokens", "stop_words"}
)
OLLAMA = frozenset({"reasoning", "think"})
MLX_LM = (SAMPLING - {"ignore_eos"}) | THINKING | {"repetition_context_size", "xtc_probability", "xtc_threshold"}
TRANSFORMERS = THINKING
LLAMACPP = (
    SAMPLING
    | THINKING
    | FORMAT
    | LAST_MESSAGE
    | {"n_predict", "repeat_penalty", "repeat_last_n", "typical_p", "top_n_sigma", "dynatemp_range"}
    | {"dynatemp_exponent", "mirostat", "mirostat_tau", "mirostat_eta", "xtc_probability", "xtc_threshold"}
    | {"dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers"}
    | {"grammar", "json_schema", "cache_prompt", "samplers", "min_keep", "t_max_predict_ms", "timings_per_token"}
    | {"reasoning_format"}
)
# How much an answer is thought over, in the words of each.
ANTHROPIC = frozenset({"top_k", "thinking"})
GEMINI = frozenset({"top_k"})
AZURE_OPENAI: frozenset[str] = frozenset()
BEDROCK_CONVERSE: frozenset[str] = frozenset()
# Of tensors: how they are to be read and written.
OPEN_INFERENCE = frozenset(
    {
        "parameters.binary_data_output",
        "parameters.content_type",
        "inputs.parameters.binary_data",
        "inputs.parameters.content_type",
        "outputs.parameters.binary_data",
        "outputs.parameters.content_type",
        "outputs.parameters.classification",
    }
)


def try_unknown(fields: Iterable[str], known: frozenset[str]) -> str | None:
    """The first of these paths, by the alphabet, that may not pass; None: all may."""
    return min((path for path in fields if not _passes(path, known)), default=None)


def _passes(path: str, known: frozenset[str]) -> bool:
    while path not in known:
        path, dot, _ = path.rpartition(".")
        if not dot:
            return False
    return True
