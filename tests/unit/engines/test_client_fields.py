"""What clients may send to each engine beside OpenAI's API."""

import pytest

from heterodyne.engines.catalogue import DIALECTS
from heterodyne.engines.client_fields import try_unknown

OPERATORS = {
    "bootstrap_host",
    "bootstrap_port",
    "bootstrap_room",
    "cache_salt",
    "chat_template",
    "chat_template_kwargs",
    "custom_logit_processor",
    "custom_params",
    "data_parallel_rank",
    "extra_key",
    "id_slot",
    "kv_transfer_params",
    "logits_processors",
    "lora",
    "lora_path",
    "lora_request",
    "mm_processor_kwargs",
    "media_io_kwargs",
    "options",
    "parameters",
    "priority",
    "prompt_embeds",
    "rid",
    "request_id",
    "session_params",
    "vllm_xargs",
}


@pytest.mark.parametrize("engine", DIALECTS)
def test_no_dialect_lets_clients_name_addresses_files_adapters_templates_code_or_places(engine: str) -> None:
    for name in OPERATORS:
        assert try_unknown(frozenset({name}), DIALECTS[engine].client_fields) == name
        assert try_unknown(frozenset({f"{name}.chat_template"}), DIALECTS[engine].client_fields)


def test_a_name_lets_what_is_below_it_pass_and_a_path_itself_alone() -> None:
    known = frozenset({"a", "b.c"})
    assert try_unknown(frozenset({"a", "a.x", "b.c"}), known) is None
    assert try_unknown(frozenset({"b"}), known) == "b"
    assert try_unknown(frozenset({"b.d", "a.x"}), known) == "b.d"
    assert try_unknown(frozenset({"z", "y"}), known) == "y"
    assert try_unknown(frozenset(), known) is None
