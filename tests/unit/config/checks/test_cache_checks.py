"""A semantic cache names models that are there and are for it; no pool takes the cache's own name."""

import pytest

from heterodyne.caching.settings import CacheSettings
from heterodyne.config.checks.cache_checks import (
    a_semantic_cache_has_its_models,
    models_of_other_caches_are_used,
    prompts_are_in_postgres,
    shared_answers_are_sealed,
)
from heterodyne.config.checks.pool_checks import pool_names_are_free
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.stores.settings import StoreSettings

URLS = ("http://127.0.0.1:1",)
POOLS = {
    "chats": PoolSettings(model="small", urls=URLS),
    "vectors": PoolSettings(model="embed", purpose="embed", urls=URLS),
}


def settings(**cache: str) -> Settings:
    return Settings(pools=POOLS, caches={"near": CacheSettings(**cache)})


def test_models_that_are_served_for_it_will_do() -> None:
    good = settings(semantic="shadow", embedding_model="embed", judge_model="small")
    assert not [*a_semantic_cache_has_its_models(good, {}), *models_of_other_caches_are_used(good, {})]


@pytest.mark.parametrize(
    ("cache", "field", "words"),
    [
        ({"semantic": "serve"}, "embedding_model", "needs the model that embeds"),
        ({"semantic": "serve", "embedding_model": "embd"}, "embedding_model", 'did you mean "embed"?'),
        ({"semantic": "serve", "embedding_model": "small"}, "embedding_model", "not there to embed"),
        (
            {"semantic": "serve", "embedding_model": "embed", "judge_model": "embed"},
            "judge_model",
            "not there to generate",
        ),
    ],
)
def test_what_cannot_be_asked_is_named(cache: dict[str, str], field: str, words: str) -> None:
    (problem,) = a_semantic_cache_has_its_models(settings(**cache), {})
    assert problem.path == f"caches.near.{field}"
    assert words in problem.message


def test_a_model_that_nobody_asks_is_a_forgotten_word() -> None:
    (problem,) = models_of_other_caches_are_used(settings(embedding_model="embed"), {})
    assert problem.path == "caches.near.embedding_model"
    assert "shadow" in problem.message


def test_a_shared_store_needs_a_secret() -> None:
    shared = Settings(stores=StoreSettings(cache_url="redis://127.0.0.1:1/0", cache_key_env="SEAL"))
    assert not [*shared_answers_are_sealed(shared, {"SEAL": "x" * 16}), *shared_answers_are_sealed(Settings(), {})]
    (problem,) = shared_answers_are_sealed(shared, {"SEAL": "x" * 15})
    assert problem.path == "stores.cache_key_env"
    assert "SEAL" in problem.message
    both = Settings(stores=StoreSettings(cache_url="redis://h/0", prompts_url="postgresql://h/p", cache_key_env="SEAL"))
    assert len([*shared_answers_are_sealed(both, {})]) == 1


def test_prompts_are_shared_in_postgres_alone() -> None:
    assert not [*prompts_are_in_postgres(Settings(stores=StoreSettings(prompts_url="postgresql://h/p")), {})]
    (problem,) = prompts_are_in_postgres(Settings(stores=StoreSettings(prompts_url="redis://:secret@h/0")), {})
    assert problem.path == "stores.prompts_url"
    assert "secret" not in problem.message


def test_a_pool_of_the_cache_s_name_is_refused() -> None:
    (problem,) = pool_names_are_free(Settings(pools={"cache": POOLS["chats"]}), {})
    assert problem.path == "pools.cache"
