"""What settings must say together; each check is one sentence an operator could have been told."""

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from heterodyne.config.problems import Problem
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import InvalidSpec
from heterodyne.fleet.chat_template import BUILTIN_PREFIX, builtin_names
from heterodyne.physics.catalogue import accelerators, with_overrides
from heterodyne.registry.sources.catalogue import SOURCES

POOL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
KEY_DIGEST_HINT = "printf %s KEY | sha256sum"

Check = Callable[[Settings, Mapping[str, str]], Iterator[Problem]]


def an_open_door_has_keys(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Anything but loopback without keys would serve strangers."""
    host = settings.gateway.host
    if not is_loopback(host) and not settings.admission.api_keys_sha256:
        yield Problem(
            path="gateway.host",
            message=f'"{host}" can be reached from other machines and no key is set; put the digest of a key '
            f"({KEY_DIGEST_HINT}) into admission.api_keys_sha256, or listen on 127.0.0.1",
            rests_on=("admission.api_keys_sha256",),
        )


def tls_is_whole(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A certificate and its key come together, and both files exist."""
    given = {"tls_certificate": settings.gateway.tls_certificate, "tls_key": settings.gateway.tls_key}
    for name, partner in (("tls_certificate", "tls_key"), ("tls_key", "tls_certificate")):
        file = given[name]
        if file is None:
            if given[partner] is not None:
                yield Problem(
                    path=f"gateway.{name}",
                    message=f"required, because gateway.{partner} is set",
                    rests_on=(f"gateway.{partner}",),
                )
        elif not Path(file).is_file():
            yield Problem(path=f"gateway.{name}", message=f'no file "{file}"')


def the_default_deadline_is_allowed(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """The deadline given to everyone is one they could have asked for."""
    gateway = settings.gateway
    if gateway.deadline_default_s > gateway.deadline_max_s:
        yield Problem(
            path="gateway.deadline_default_s",
            message=f"{gateway.deadline_default_s:g} is more than gateway.deadline_max_s, {gateway.deadline_max_s:g}",
            rests_on=("gateway.deadline_max_s",),
        )


def one_body_fits_among_all(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A single allowed body must not exceed what all bodies together may take."""
    gateway = settings.gateway
    if gateway.body_bytes_max > gateway.bodies_bytes_max:
        yield Problem(
            path="gateway.body_bytes_max",
            message=f"{gateway.body_bytes_max} is more than gateway.bodies_bytes_max, {gateway.bodies_bytes_max}",
            rests_on=("gateway.bodies_bytes_max",),
        )


def there_are_pools(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A gateway with nothing behind it helps nobody."""
    if not settings.pools:
        yield Problem(
            path="pools",
            message="no pools; declare one as [pools.NAME], or remove the section for the default pools",
        )


def pool_names_fit_a_header(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Pool names travel in response headers, metric labels and dotted paths."""
    for name in settings.pools:
        if not POOL_NAME.fullmatch(name):
            yield Problem(
                path=f"pools.{name!r}",
                message="a pool name is 1 to 63 letters, digits, dashes and underscores, "
                "beginning with a letter or digit",
            )


def a_pool_has_one_origin(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Replicas are reached by URL or started here, not both and not neither."""
    for name, pool in settings.pools.items():
        rests_on = (f"pools.{name}.urls", f"pools.{name}.weights")
        if pool.urls and pool.weights is not None:
            yield Problem(
                path=f"pools.{name}",
                message="both urls and weights; keep urls for replicas that already run, weights for one started here",
                rests_on=rests_on,
            )
        elif not pool.urls and pool.weights is None:
            yield Problem(
                path=f"pools.{name}",
                message="neither urls nor weights; give urls of replicas that already run, "
                "or weights to start one here",
                rests_on=rests_on,
            )


def weights_can_be_trusted(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Weights come from a known kind of source, and a bare download is checked against its hash."""
    for name, pool in settings.pools.items():
        if pool.weights is None:
            continue
        scheme, colon, _rest = pool.weights.partition(":")
        if not colon or scheme not in SOURCES:
            yield Problem(
                path=f"pools.{name}.weights",
                message="expected a URI that begins with " + ", ".join(f"{known}:" for known in SOURCES),
            )
        elif scheme == "https" and pool.weights_sha256 is None:
            yield Problem(
                path=f"pools.{name}.weights_sha256",
                message="required for https: weights; sha256sum FILE prints it",
                rests_on=(f"pools.{name}.weights",),
            )


def weights_meet_an_engine_that_starts_here(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Only llama.cpp is started by us."""
    for name, pool in settings.pools.items():
        if pool.weights is not None and pool.engine != "llamacpp":
            yield Problem(
                path=f"pools.{name}.engine",
                message=f'a replica started here from weights runs "llamacpp", not "{pool.engine}"',
                rests_on=(f"pools.{name}.weights",),
            )


def upstream_keys_are_present(settings: Settings, environment: Mapping[str, str]) -> Iterator[Problem]:
    """A key that is named must be there, or every request of the pool fails."""
    for name, pool in settings.pools.items():
        if pool.api_key_env is not None and not environment.get(pool.api_key_env):
            yield Problem(
                path=f"pools.{name}.api_key_env",
                message=f"the environment variable {pool.api_key_env} is not set",
            )


def replica_urls_can_be_called(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Every URL names a host by http or https, once."""
    for name, pool in settings.pools.items():
        for index, url in enumerate(pool.urls):
            complaint = _url_complaint(url)
            if complaint is None and url in pool.urls[:index]:
                complaint = "listed twice"
            if complaint is not None:
                yield Problem(path=f"pools.{name}.urls[{index}]", message=complaint)


def chat_templates_exist(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A template that is named is one we ship, or a file."""
    for name, pool in settings.pools.items():
        template = pool.chat_template
        if template is None:
            continue
        builtin = template.removeprefix(BUILTIN_PREFIX)
        if builtin != template and builtin not in builtin_names():
            message = f'no built-in template "{builtin}"; there is {", ".join(builtin_names())}'
            yield Problem(path=f"pools.{name}.chat_template", message=message)
        elif builtin == template and not Path(template).expanduser().is_file():
            yield Problem(path=f"pools.{name}.chat_template", message=f'no file "{template}"')


def one_model_has_one_purpose(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Two pools may share a model only when both answer the same kind of request."""
    first: dict[str, str] = {}
    for name, pool in settings.pools.items():
        other = first.setdefault(pool.model, name)
        if settings.pools[other].purpose != pool.purpose:
            yield Problem(
                path=f"pools.{name}.purpose",
                message=f'"{pool.purpose}", but pools.{other} serves the same model, "{pool.model}", '
                f'with purpose "{settings.pools[other].purpose}"',
                rests_on=(f"pools.{other}.purpose", f"pools.{other}.model", f"pools.{name}.model"),
            )


def hardware_facts_can_be(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A chip described in the settings has the fields of the catalogue, with numbers that can be."""
    known = accelerators() if settings.physics.hardware else {}
    for name, fields in settings.physics.hardware.items():
        # Fields that replace the catalogue's are judged one by one, so that all mistakes are shown at once.
        for some in [{field: value} for field, value in fields.items()] if name in known else [fields]:
            try:
                with_overrides(known, {name: some}, path="physics.hardware")
            except InvalidSpec as error:
                path, _colon, message = error.message.partition(": ")
                yield Problem(path=path, message=message)


CHECKS: tuple[Check, ...] = (
    an_open_door_has_keys,
    tls_is_whole,
    the_default_deadline_is_allowed,
    one_body_fits_among_all,
    there_are_pools,
    pool_names_fit_a_header,
    a_pool_has_one_origin,
    weights_can_be_trusted,
    weights_meet_an_engine_that_starts_here,
    upstream_keys_are_present,
    replica_urls_can_be_called,
    chat_templates_exist,
    one_model_has_one_purpose,
    hardware_facts_can_be,
)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a listener on `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _url_complaint(url: str) -> str | None:
    """What keeps a replica URL from being called. The URL is not repeated: it may hold a password."""
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
