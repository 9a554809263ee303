"""Checks of caches: the models that a semantic one asks are there, and are for it."""

from collections.abc import Iterator, Mapping

from heterodyne.config.fields import CACHES, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool, purposes
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.domain.fleet import Purpose

KEY_CHARS_MIN = 16
POSTGRES = ("postgresql://", "postgres://")
ASKED = {"embedding_model": (Purpose.EMBED, "embed"), "judge_model": (Purpose.GENERATE, "generate")}


def a_semantic_cache_has_its_models(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Without an embedding there is nothing to compare."""
    served = purposes(settings)
    for name, cache in settings.caches.items():
        if cache.semantic == "off":
            continue
        if not cache.embedding_model:
            message = f'`semantic = "{cache.semantic}"` needs the model that embeds prompts'
            yield SettingProblem(path=dotted(CACHES, name, "embedding_model"), message=message)
        for field, (purpose, word) in ASKED.items():
            model = getattr(cache, field)
            if not model or served.get(model) == purpose:
                continue
            message = or_nearest(f'no pool serves "{model}"', model, served)
            if model in served:
                message = f'"{model}" is not there to {word}'
            rests_on = field_of_every_pool(settings, "model", "purpose")
            yield SettingProblem(path=dotted(CACHES, name, field), message=message, rests_on=rests_on)


def models_of_other_caches_are_used(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A model that nobody asks is a forgotten `semantic`."""
    for name, cache in settings.caches.items():
        for field in ASKED:
            if cache.semantic == "off" and getattr(cache, field):
                message = 'is asked by a semantic cache alone; add `semantic = "shadow"`'
                yield SettingProblem(path=dotted(CACHES, name, field), message=message)


def shared_answers_are_sealed(settings: Settings, environment: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Who can write into the store must not be able to put answers into mouths."""
    stores = settings.stores
    name = stores.cache_key_env
    for field in ("cache_url", "prompts_url"):
        if getattr(stores, field) is not None and len(environment.get(name, "")) < KEY_CHARS_MIN:
            message = f"`{field}` needs a secret of {KEY_CHARS_MIN} characters or more in the environment as {name}"
            yield SettingProblem(path="stores.cache_key_env", message=message)
            return


def prompts_are_in_postgres(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The address is not repeated, for it may hold a password."""
    url = settings.stores.prompts_url
    if url is not None and not url.startswith(POSTGRES):
        scheme = url.partition(":")[0][:20]
        message = f'begins with "{scheme}:"; it is postgresql://USER@HOST/NAME, of a PostgreSQL with pgvector'
        yield SettingProblem(path="stores.prompts_url", message=message)
