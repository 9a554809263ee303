"""What engines call the length of an answer beside OpenAI's `max_tokens`: a request that sets one of these sets it."""

AT_MOST = frozenset(
    {
        "n_predict",  # llama.cpp
        "num_predict",  # Ollama
        "max_new_tokens",  # TGI, SGLang and LMDeploy in their own APIs
        "max_length",
        "max_gen_len",
        "max_output_tokens",
        "max_tokens_to_sample",
    }
)
AT_LEAST = frozenset({"min_tokens", "min_new_tokens", "min_length"})
