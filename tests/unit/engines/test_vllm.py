"""What vLLM's metrics page says when there is more than one rank, an adapter, or an older version."""

from heterodyne.engines.vllm import VllmDialect

DIALECT = VllmDialect()
PAGE = b"""# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
vllm:num_requests_waiting{engine="1",model_name="m"} 0.0
# TYPE vllm:num_requests_waiting_by_reason gauge
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 1.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.5
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 100.0
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 40.0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="m"} 100.0
# TYPE vllm:prompt_tokens_cached_total counter
vllm:prompt_tokens_cached_total{engine="0",model_name="m"} 40.0
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="1000"} 1.0
vllm:cache_config_info{block_size="16",engine="1",num_gpu_blocks="2000"} 1.0
# TYPE vllm:lora_requests_info gauge
vllm:lora_requests_info{max_lora="4",running_lora_adapters="old",waiting_lora_adapters=""} 1.7e+09
vllm:lora_requests_info{max_lora="4",running_lora_adapters="a,b",waiting_lora_adapters="c"} 1.8e+09
"""


def test_ranks_add_up_and_the_fullest_memory_counts() -> None:
    load = DIALECT.read_load([PAGE])
    assert (load.running, load.waiting, load.kv_share) == (7, 1, 0.5)
    assert (load.kv_tokens, load.block_tokens) == (48_000, 16)
    assert (load.prefix_query_tokens, load.prefix_hit_tokens, load.prompt_tokens) == (100.0, 40.0, 60.0)


def test_the_newest_line_has_the_adapters() -> None:
    assert DIALECT.read_load([PAGE]).adapters == ("a", "b")


def test_older_names_are_known() -> None:
    body = b'vllm:gpu_cache_usage_perc{model_name="m"} 0.75\nvllm:gpu_prefix_cache_hits_total{model_name="m"} 8.0\n'
    load = DIALECT.read_load([body])
    assert (load.kv_share, load.prefix_hit_tokens, load.running) == (0.75, 8.0, None)


def test_memory_that_is_not_known_yet_is_not_made_up() -> None:
    body = b'vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1.0\n'
    load = DIALECT.read_load([body])
    assert (load.kv_tokens, load.block_tokens, load.is_asleep) == (None, 16, False)
    body = b'vllm:cache_config_info{block_size="%b",num_gpu_blocks="7"} 1.0\n' % (b"9" * 5000)
    assert DIALECT.read_load([body]).block_tokens is None
