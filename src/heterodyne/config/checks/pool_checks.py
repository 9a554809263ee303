"""Checks of pools, each one sentence for the operator."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import purpose_of
from heterodyne.config.settings import Settings
from heterodyne.domain.cache_use import CACHE_POOL, CASCADE_POOL
from heterodyne.fleet.chat_template import BUILTIN_PREFIX, builtin_names
from heterodyne.registry.catalog.reference import SCHEME
from heterodyne.registry.sources.catalogue import SOURCES

POOL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
KNOWN = (*SOURCES, SCHEME)
TOKEN_PRICES = ("price_usd_per_million_prompt_tokens", "price_usd_per_million_completion_tokens")
ORIGINS = ("urls", "discover", "weights", "command")
LONG_PROMPT = "price_long_prompt_tokens"
LONG_PRICES = (
    "price_long_usd_per_million_prompt_tokens",
    "price_long_usd_per_million_completion_tokens",
    "price_long_usd_per_million_cached_tokens",
    "price_long_usd_per_million_cache_write_tokens",
)
DETAILED_PRICES = (
    "price_usd_per_million_cached_tokens",
    "price_usd_per_million_cache_write_tokens",
    LONG_PROMPT,
    *LONG_PRICES,
)


def there_are_pools(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A gateway without pools serves nothing."""
    if not settings.pools:
        yield SettingProblem(
            path=POOLS,
            message="no pools; declare one as [pools.NAME], or remove the section for the default pools",
        )


def pool_names_are_free(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Answers that no replica was asked for stand under names of their own in the books."""
    for name in (CACHE_POOL, CASCADE_POOL):
        if name in settings.pools:
            message = f"`{name}` stands for answers without a replica in usage and metrics; choose another name"
            yield SettingProblem(path=dotted(POOLS, name), message=message)


def pool_names_fit_a_header(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Pool names travel in response headers, metric labels and dotted paths."""
    for name in settings.pools:
        if not POOL_NAME.fullmatch(name):
            yield SettingProblem(
                path=dotted(POOLS, name),
                message="a pool name is 1 to 63 letters, digits, dashes and underscores, "
                "beginning with a letter or digit",
            )


def a_pool_has_one_origin(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Replicas are reached by URL, found in a cluster, or started here: one of them."""
    for name, pool in settings.pools.items():
        rests_on = tuple(dotted(POOLS, name, origin) for origin in ORIGINS)
        given = [origin for origin in ORIGINS if getattr(pool, origin)]
        if len(given) > 1:
            yield SettingProblem(
                path=dotted(POOLS, name),
                message=f"both {' and '.join(given)}; keep urls for replicas that already run, discover for those that "
                "a cluster knows, weights to start some here",
                rests_on=rests_on,
            )
        elif not given and pool.inference_pool is None:
            yield SettingProblem(
                path=dotted(POOLS, name),
                message="neither urls nor weights; give urls of replicas that already run, "
                "discover for those that a cluster knows, or weights to start one here",
                rests_on=rests_on,
            )


def weights_can_be_trusted(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Weights come from a known kind of source, and a bare download is checked against its hash."""
    for name, pool in settings.pools.items():
        if pool.weights is None:
            continue
        scheme, colon, _rest = pool.weights.partition(":")
        if not colon or scheme not in KNOWN:
            yield SettingProblem(
                path=dotted(POOLS, name, "weights"),
                message="expected a URI that begins with " + ", ".join(f"{known}:" for known in KNOWN),
            )
        elif scheme == "https" and pool.weights_sha256 is None:
            yield SettingProblem(
                path=dotted(POOLS, name, "weights_sha256"),
                message="required for https: weights; sha256sum FILE prints it",
                rests_on=(dotted(POOLS, name, "weights"),),
            )


def weights_meet_an_engine_that_starts_here(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Only llama.cpp is started by us."""
    for name, pool in settings.pools.items():
        if pool.weights is not None and pool.engine != "llamacpp":
            yield SettingProblem(
                path=dotted(POOLS, name, "engine"),
                message=f'a replica started here from weights runs "llamacpp", not "{pool.engine}"',
                rests_on=(dotted(POOLS, name, "weights"),),
            )


def only_replicas_started_here_are_counted(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Replicas that already run are as many as their URLs."""
    for name, pool in settings.pools.items():
        if pool.replicas > 1 and not pool.is_started_here:
            yield SettingProblem(
                path=dotted(POOLS, name, "replicas"),
                message=f"{pool.replicas}, but only replicas started here from weights are counted; "
                "of those that already run, list every URL in urls",
                rests_on=(dotted(POOLS, name), dotted(POOLS, name, "weights")),
            )


def upstream_keys_are_present(settings: Settings, environment: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A key that is named must be there, or every request of the pool fails."""
    for name, pool in settings.pools.items():
        if pool.api_key_env is not None and not environment.get(pool.api_key_env):
            yield SettingProblem(
                path=dotted(POOLS, name, "api_key_env"),
                message=f"the environment variable {pool.api_key_env} is not set",
            )


def replica_urls_can_be_called(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Every URL names a host by http or https, once."""
    for name, pool in settings.pools.items():
        yield from _uncallable(pool.urls, dotted(POOLS, name, "urls"))


def key_origins_are_origins(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A key is for a host, whatever the path; without a host it is for none."""
    for name, pool in settings.pools.items():
        path = dotted(POOLS, name, "api_key_origins")
        yield from _uncallable(pool.api_key_origins, path)
        for index, one in enumerate(pool.api_key_origins):
            if _url_complaint(one) is None and urlsplit(one).path not in ("", "/"):
                yield SettingProblem(path=f"{path}[{index}]", message="carries a path; give scheme, host and port only")
        if pool.api_key_origins and pool.api_key_env is None:
            yield SettingProblem(
                path=path,
                message="names who may be sent a key, and api_key_env names none",
                rests_on=(dotted(POOLS, name, "api_key_env"),),
            )


def accelerator_urls_can_be_called(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """So does every metrics page of devices."""
    for name, pool in settings.pools.items():
        yield from _uncallable(pool.accelerator_metrics_urls, dotted(POOLS, name, "accelerator_metrics_urls"))


def chat_templates_exist(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A template that is named is one we ship, or a file."""
    for name, pool in settings.pools.items():
        template = pool.chat_template
        if template is None:
            continue
        builtin = template.removeprefix(BUILTIN_PREFIX)
        if builtin != template and builtin not in builtin_names():
            message = f'no built-in template "{builtin}"; there is {", ".join(builtin_names())}'
            yield SettingProblem(path=dotted(POOLS, name, "chat_template"), message=message)
        elif builtin == template and not Path(template).expanduser().is_file():
            yield SettingProblem(path=dotted(POOLS, name, "chat_template"), message=f'no file "{template}"')


def one_model_has_one_purpose(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Two pools may share a model only when both answer the same kind of request."""
    first: dict[str, str] = {}
    for name, pool in settings.pools.items():
        other = first.setdefault(pool.model, name)
        purpose, others = purpose_of(pool), purpose_of(settings.pools[other])
        if purpose != others:
            is_said = purpose == pool.purpose  # else it follows from the engine
            yield SettingProblem(
                path=dotted(POOLS, name, "purpose" if is_said else "engine"),
                message=("" if is_said else f'"{pool.engine}" is for purpose ')
                + f'"{purpose}", but pools.{other} serves the same model, "{pool.model}", '
                f'with purpose "{others}"',
                rests_on=tuple(
                    dotted(POOLS, one, field) for one in (other, name) for field in ("purpose", "engine", "model")
                ),
            )


def a_pool_is_paid_one_way(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A replica is ours and paid by the hour, or hosted and paid by the token."""
    for name, pool in settings.pools.items():
        by_token = [price for price in TOKEN_PRICES if getattr(pool, price) is not None]
        if pool.price_usd_per_hour is not None and by_token:
            yield SettingProblem(
                path=dotted(POOLS, name, "price_usd_per_hour"),
                message=f"a price by the hour, but {' and '.join(by_token)} {'is' if len(by_token) == 1 else 'are'} "
                "by the token; keep the hour's for capacity of your own, the tokens' for hosted capacity",
                rests_on=tuple(dotted(POOLS, name, price) for price in by_token),
            )


def detailed_prices_refine_a_price_by_the_token(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """What cached tokens and long prompts cost says nothing where tokens have no price; a long prompt has a length."""
    for name, pool in settings.pools.items():
        given = [price for price in DETAILED_PRICES if getattr(pool, price) is not None]
        token_prices = tuple(dotted(POOLS, name, price) for price in TOKEN_PRICES)
        if given and all(getattr(pool, price) is None for price in TOKEN_PRICES):
            yield SettingProblem(
                path=dotted(POOLS, name, given[0]),
                message=f"refines a price by the token, and neither {' nor '.join(TOKEN_PRICES)} is given",
                rests_on=token_prices,
            )
        long = [price for price in given if price in LONG_PRICES]
        if bool(long) != (pool.price_long_prompt_tokens is not None):
            missing = LONG_PROMPT if long else f"any of {', '.join(LONG_PRICES)}"
            yield SettingProblem(
                path=dotted(POOLS, name, long[0] if long else LONG_PROMPT),
                message=f"says nothing without {missing}",
                rests_on=tuple(dotted(POOLS, name, price) for price in (LONG_PROMPT, *LONG_PRICES)),
            )


def a_replica_limit_can_be_reached(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A limit above the gateway's never holds; one below the slots of a replica started here leaves some idle."""
    in_flight_max, workers = settings.admission.in_flight_max, settings.gateway.workers
    for name, pool in settings.pools.items():
        limit = pool.in_flight_max
        if limit is None:
            continue
        path = dotted(POOLS, name, "in_flight_max")
        if limit > in_flight_max:
            yield SettingProblem(
                path=path,
                message=f"{limit} is more than admission.in_flight_max, {in_flight_max}, which all replicas share",
                rests_on=("admission.in_flight_max",),
            )
        elif pool.weights is not None and limit * workers < pool.slots:
            yield SettingProblem(
                path=path,
                message=f"{limit} from each of gateway.workers, {workers}, cannot fill the {pool.slots} slots of a "
                f"replica; raise it, or lower {dotted(POOLS, name, 'slots')}",
                rests_on=("gateway.workers", dotted(POOLS, name, "slots"), dotted(POOLS, name, "weights")),
            )


def _uncallable(urls: Sequence[str], path: str) -> Iterator[SettingProblem]:
    for index, url in enumerate(urls):
        complaint = _url_complaint(url)
        if complaint is None and url in urls[:index]:
            complaint = "listed twice"
        if complaint is not None:
            yield SettingProblem(path=f"{path}[{index}]", message=complaint)


def _url_complaint(url: str) -> str | None:
    """What keeps a URL from being called. The URL is not repeated: it may hold a password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"not a URL: {error}"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "expected http://host:port or https://host:port"
    if port == 0:
        return "a port is 1 to 65535"
    return _extra_parts(parts)


def _extra_parts(parts: SplitResult) -> str | None:
    if parts.username is not None or parts.password is not None:
        return "carries a user or password; put the key into a variable and name it in api_key_env"
    if parts.query or parts.fragment:
        return "carries a query or fragment; give scheme, host, port and path only"
    return None
