"""A worker's books under fire: streams tokens of many requests until it is killed; run with `python -m`.

For each line `folder life seed` on its standard input it forks a worker and prints its pid, and a line when that is
gone. What leaves a worker is an event in `LIFE.received`, written by one system call after its tokens were counted.
Events lie within pages of the file, so that a kill leaves a whole one or none.
"""

import os
import random
import struct
import sys
import time
from pathlib import Path

from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.usage import FlightTerms, UsageEnding, UsageOpening
from tests.support.flight_slots import open_slot, place_slot

IN_FLIGHT = 12
CHUNK_TOKENS_MAX = 3
EVENT = struct.Struct("<QQ")  # the number of a request, and its tokens so far


def main() -> None:
    """Fork workers until nobody asks for more."""
    for line in sys.stdin:
        folder, life, seed = line.split()
        pid = os.fork()
        if pid == 0:
            stream(Path(folder), life, random.Random(seed))
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("gone", flush=True)


def stream(folder: Path, life: str, chance: random.Random) -> None:
    """Until killed."""
    slots = FlightSlots(folder / f"worker-0.{life}.slots", 512)
    spool = UsageSpool(folder, "worker-0", life, slots, segment_bytes_max=4096, flush_interval_s=0.002)
    spool.start()
    received = os.open(folder / f"{life}.received", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    flights: list[tuple[UsageOpening, FlightSlot, int]] = []
    number = 0
    while True:
        if len(flights) < IN_FLIGHT and slots.taken < slots.slots_max:
            number += 1
            opening = _opening(request_id(life, number))
            flights.append((opening, open_slot(slots, opening, FlightTerms(prompt_tokens=5)), 0))
        if not flights:
            time.sleep(0.001)  # every slot waits for the disk
            continue
        place = chance.randrange(len(flights))
        opening, slot, tokens = flights[place]
        step = chance.random()
        if step < 0.1:
            spool.finish(slot, UsageEnding(status=200, prompt_tokens=5, completion_tokens=tokens))
            del flights[place]
        elif step < 0.15:
            place_slot(slot, opening, FlightTerms(prompt_tokens=5))  # it goes on elsewhere
        else:
            tokens += chance.randint(1, CHUNK_TOKENS_MAX)
            flights[place] = opening, slot, tokens
            slot.delivered = tokens
            os.write(received, EVENT.pack(int(opening.id[-8:], 16), tokens))


def request_id(life: str, number: int) -> str:
    """As workers make them."""
    return f"req_{life}{number:08x}"


def _opening(id: str) -> UsageOpening:
    return UsageOpening(
        id=id,
        at=1_793_534_400.0,
        organisation="acme",
        project="acme/search",
        key="k_1",
        tier="gold",
        urgency="interactive",
        operation="chat",
        model="llama",
    )


if __name__ == "__main__":
    main()
