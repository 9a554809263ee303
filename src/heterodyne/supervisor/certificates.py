"""Looks at every certificate that we show, now and then: when it is over, and whether it can be shown at all."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.settings import Settings
from heterodyne.telemetry import metrics
from heterodyne.wire.tls.own_certificate import own_certificate

LOOK_S: Final = 60.0


class CertificateSeen(Struct, frozen=True, kw_only=True):
    """One, by the setting that names its file."""

    setting: str
    file: str
    ends_at: float | None = None  # by the wall's clock; None: it cannot be read
    problem: str | None = None


class CertificateWatch:
    """One per supervisor."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._seen: tuple[CertificateSeen, ...] = ()

    def snapshot(self) -> tuple[CertificateSeen, ...]:
        """What was found last."""
        return self._seen

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            before, self._seen = self._seen, await asyncio.to_thread(certificates_of, self._settings())
            for gone in {one.setting for one in before} - {one.setting for one in self._seen}:
                metrics.certificate_ends.forget((gone,))
            for one in self._seen:
                if one.ends_at is not None:
                    metrics.certificate_ends.set((one.setting,), one.ends_at)
            await asyncio.sleep(LOOK_S)


def certificates_of(settings: Settings) -> tuple[CertificateSeen, ...]:
    """Those that clients see, and those that engines do."""
    return tuple(_seen(*named) for named in _named(settings))


def _named(settings: Settings) -> Iterator[tuple[str, str, str | None, bool]]:
    gateway = settings.gateway
    if gateway.tls_certificate is not None:
        yield "gateway.tls_certificate", gateway.tls_certificate, gateway.tls_key, True
    console = settings.console
    if console.tls_certificate is not None:
        yield "console.tls_certificate", console.tls_certificate, console.tls_key, True
    picker = settings.endpoint_picker
    if picker.tls_certificate is not None:
        yield "endpoint_picker.tls_certificate", picker.tls_certificate, picker.tls_key, True
    for name, pool in settings.pools.items():
        if pool.tls_certificate is not None:
            yield dotted(POOLS, name, "tls_certificate"), pool.tls_certificate, pool.tls_key, False


def _seen(setting: str, file: str, key: str | None, is_door: bool) -> CertificateSeen:
    try:
        found = own_certificate(file, key, is_door=is_door)
    except OSError as error:
        return CertificateSeen(setting=setting, file=file, problem=str(error))
    return CertificateSeen(setting=setting, file=file, ends_at=found.ends_at)
