"""One question to one guard elsewhere: over HTTP, or to a model of this fleet as the gateway asks itself."""

import os
from collections.abc import Callable, Iterable
from typing import Final

from heterodyne.admission.callers import JUDGE
from heterodyne.domain.guard_verdict import Direction
from heterodyne.gateway.inner_step import inner_post
from heterodyne.gateway.stored.inner_call import REGIONS, InnerCall
from heterodyne.safety.guard_url import GuardURL, read_guard_url
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.registry import HTTP
from heterodyne.safety.remote.asked_texts import AskedTexts
from heterodyne.safety.remote.judge import judge_question, read_judgement
from heterodyne.safety.remote.judged import RemoteFinding
from heterodyne.safety.remote.look_failed import LookFailed
from heterodyne.safety.remote.outside import outside_question, read_outside
from heterodyne.safety.settings import GuardSettings
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import post
from heterodyne.wire.message import HttpRequest

CHAT: Final = b"/v1/chat/completions"
NOT_KEPT: Final = {b"cache-control": b"no-cache, no-store"}

Ask = Callable[[HttpRequest], InnerCall]
Heard = tuple[RemoteFinding, ...] | LookFailed


class RemoteAsking:
    """Over which connections, and by whom. One per worker."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self.ask_gateway: Ask | None = None  # set by the server

    async def ask(
        self,
        rule: GuardRule,
        direction: Direction,
        project: str,
        model: str,
        texts: AskedTexts,
        *,
        regions: frozenset[str] | None,
    ) -> Heard:
        """What the guard has found, or why nobody knows, within the time that it may take; no text leaves the regions
        that its caller may be answered in."""
        if rule.settings.guard == HTTP:
            if regions is not None and rule.settings.region not in regions:
                return LookFailed("the guard is in no region of this key")
            return await self._ask_outside(rule, outside_question(direction, project, model, texts))
        return await self._ask_judge(judge_question(rule.settings, direction, texts), rule.timeout_s, regions)

    def keep_only(self, policies: Iterable[GuardSettings]) -> None:
        """Let go of connections to guards that no policy asks any more."""
        urls = [read_guard_url(one.url) for one in policies if one.url is not None]
        self._pool.forget({_address(url) for url in urls})

    async def close(self) -> None:
        """No connection is left."""
        await self._pool.close()

    async def _ask_outside(self, rule: GuardRule, question: bytes) -> Heard:
        settings = rule.settings
        assert settings.url is not None
        url = read_guard_url(settings.url)
        key = os.environ.get(settings.api_key_env, "") if settings.api_key_env else ""
        headers = f"authorization: Bearer {key}\r\n".encode() if key else b""
        try:
            answer = await post(
                self._pool,
                _address(url),
                url.path,
                question,
                timeout_s=rule.timeout_s,
                headers=headers,
                keeps_alive=True,
            )
        except WireError as error:
            return LookFailed(error.kind)
        return read_outside(answer.status, answer.body)

    async def _ask_judge(self, question: bytes, timeout_s: float, regions: frozenset[str] | None) -> Heard:
        """It asks in a name of its own, whose requests no policy looks at: a judge would be judged without end."""
        assert self.ask_gateway is not None
        headers = NOT_KEPT if regions is None else {**NOT_KEPT, REGIONS: "\n".join(sorted(regions)).encode()}
        http = inner_post(CHAT, question, JUDGE, wait_s=timeout_s, headers=headers)
        call = self.ask_gateway(http)
        try:
            if not await call.is_done_within(timeout_s):
                return LookFailed("no verdict in time")
            answer = call.answer()
        finally:
            call.abort()
        return read_judgement(answer.status, answer.body)


def _address(url: GuardURL) -> Address:
    return Address(url.host, url.port, url.tls)
