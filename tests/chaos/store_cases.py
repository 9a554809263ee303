"""Stores elsewhere that die and come back: PostgreSQL with the tenants and the books, Redis with the limits."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from tests.chaos.postgres import MortalPostgres, mortal_postgres
from tests.chaos.rig import Gateway, gateway
from tests.chaos.seen import Case, Seen
from tests.support.redis_server import RedisServer

LIMIT = 1_000_000
STORES = """
[stores]
url = "{postgres}"
redis_url = "{redis}"

[admission]
limits_when_unreachable = "{behaviour}"
"""


class Shop(Struct, frozen=True):
    """A gateway and what it depends on."""

    gateway: Gateway
    postgres: MortalPostgres
    redis: RedisServer


@contextmanager
def shop() -> Iterator[Shop]:
    """Limits are closed while nobody counts them, so that it can be seen."""
    with mortal_postgres() as postgres, RedisServer(keeps=True) as redis:
        more = STORES.format(postgres=postgres.url, redis=redis.url, behaviour="closed")
        with gateway(is_mounted=False, more=more) as one:
            yield Shop(one, postgres, redis)


def postgres_killed(shop: Shop) -> Seen:
    one = shop.gateway
    shop.postgres.kill()
    try:
        one.wait(lambda: one.create_key(one.project).status == 503, "changes are refused")
        change, during = one.create_key(one.project), one.ask()
        assert (during.status, change.code) == (200, "store_unavailable"), (during, change, one.serve.log[-3000:])
        assert one.ask("hd-never").status == 401
        one.wait(lambda: one.said("tenants_not_read", "usage_not_collected"), "it says so")
    finally:
        shop.postgres.start()
    one.wait_well()
    secret = one.issue("chaos/afterwards")
    one.wait(lambda: one.ask(secret).status == 200, "changes are followed again")
    return Seen(
        requests=str(during), changes=str(change), said="`tenants_not_read`, `usage_not_collected`", after="well"
    )


def postgres_damaged(shop: Shop) -> Seen:
    one = shop.gateway
    _rename(shop, "keys", "lost")
    try:
        change, during = one.create_key(one.project), one.ask()
        assert (during.status, change.code) == (200, "store_unavailable"), (during, change, one.serve.log[-3000:])
    finally:
        _rename(shop, "lost", "keys")
    one.wait_well()
    return Seen(requests=str(during), changes=str(change), said="the answer", after="well")


def redis_killed(shop: Shop) -> Seen:
    one = shop.gateway
    limited = one.issue("chaos/counted", requests_per_day=LIMIT)
    one.wait(lambda: one.ask(limited).status == 200, "it is counted")
    shop.redis.kill()
    try:
        one.wait(lambda: one.ask(limited).status == 503, "nobody counts")
        refused, during, change = one.ask(limited), one.ask(), one.create_key(one.project)
        assert change.status == 200, change
        assert (during.status, refused.code) == (200, "store_unavailable"), (during, refused)
        assert one.said("leases_away")
    finally:
        shop.redis.start()
    one.wait(lambda: one.ask(limited).status == 200, "it is counted again")
    one.wait_well()
    return Seen(
        requests=f"{during}; of limited keys {refused}", changes=str(change), said="`leases_away`", after="well"
    )


def _rename(shop: Shop, name: str, other: str) -> None:
    shop.postgres.run(f"ALTER TABLE heterodyne.{name} RENAME TO {other}")


STORE = (
    Case(name="PostgreSQL killed", what="The server is killed and started again.", run=postgres_killed),
    Case(name="PostgreSQL damaged", what="It answers, and a table is not there.", run=postgres_damaged),
    Case(
        name="Redis killed",
        what="The server is killed and started again; `limits_when_unreachable` is `closed`.",
        run=redis_killed,
    ),
)
