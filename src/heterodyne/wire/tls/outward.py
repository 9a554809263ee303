"""Contexts for those we call, made anew where their files are."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Final

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.wire.tls.contexts import outward_context
from heterodyne.wire.tls.stamps import Stamp, stamp_of

LOOK_S: Final = 1.0  # between looks at the files
CONTEXTS_MAX: Final = 256  # a pool needs one
SYSTEM: Final = TlsFiles()


class OutwardContexts:
    """One for each set of files; without any, those are believed whom this system believes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: dict[TlsFiles, tuple[ssl.SSLContext, Stamp, float]] = {}

    async def of(self, files: TlsFiles | None) -> ssl.SSLContext:
        """Raises OSError where the files are unfit; those that were read before hold until newer ones are fit."""
        wanted = files or SYSTEM
        held = self._held.get(wanted)
        if held is not None and (files is None or self._clock() < held[2]):
            return held[0]
        return await asyncio.to_thread(self._looked, wanted)

    def _looked(self, files: TlsFiles) -> ssl.SSLContext:
        held, stamp, look_at_s = self._held.get(files), stamp_of(files), self._clock() + LOOK_S
        if held is not None and held[1] == stamp:
            context = held[0]
        else:
            try:
                context = outward_context(files)
            except OSError:
                if held is None:
                    raise
                context, stamp = held[0], held[1]
        while files not in self._held and len(self._held) >= CONTEXTS_MAX:
            del self._held[next(iter(self._held))]
        self._held[files] = context, stamp, look_at_s
        return context
