"""Pure: what is said to the shell of a host, and what its answer means.

Each port has a folder on its host: whoever makes it has the port. In it are the replica's id, its process and its log.
"""

import shlex
from collections.abc import Sequence

from msgspec import Struct

from heterodyne.domain.errors import DriverUnavailable

RUNS, STOPPED = "runs", "stopped"
LOG_BYTES = 300

# A process is known by its number and by when it began, as numbers come again.
COMMON = """
set -u
begun() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }
runs() { [ -s "$1/pid" ] && [ "$(begun "$(cat "$1/pid")")" = "$(cat "$1/begun")" ] && [ -s "$1/begun" ]; }
"""
FIND = (
    COMMON
    + """
cd "$HOME" && [ -d "$1" ] || exit 0
for place in "$1"/*/; do
  place=${place%/}
  id=$(cat "$place/id" 2>/dev/null) && owner=$(cat "$place/owner" 2>/dev/null) || continue
  at=$(cat "$place/at" 2>/dev/null) || continue
  if runs "$place"; then state=runs; elif [ -e "$place/stops" ]; then state=stopped; else state=died; fi
  printf '%s\\t%s\\t%s\\t%s\\t%s\\t' "${place##*/}" "$owner" "$id" "$state" "$(( $(date +%s) - at ))"
  if [ "$state" != runs ]; then tail -c "$2" "$place/log" 2>/dev/null | tr '\\t\\n\\r' '   '; fi
  echo
done
"""
)
START = (
    COMMON
    + """
cd "$HOME" || exit 1
folder=$1 place=$1/$2 owner=$3 id=$4; shift 4
command -v "$1" >/dev/null || { echo "$1: no such command" >&2; exit 4; }
umask 077
mkdir -p "$folder" && mkdir "$place" 2>/dev/null || { echo "$place is taken" >&2; exit 3; }
echo "$owner" >"$place/owner"; date +%s >"$place/at"
setsid "$@" </dev/null >"$place/log" 2>&1 &
begun $! >"$place/begun"; echo $! >"$place/pid"
echo "$id" >"$place/id"
"""
)
STOP = (
    COMMON
    + """
cd "$HOME" || exit 0
place=$1/$2
[ "$(cat "$place/id" 2>/dev/null)" = "$3" ] || exit 0
pid=$(cat "$place/pid" 2>/dev/null)
: >"$place/stops"  # so that nobody who looks meanwhile takes it for a death
if runs "$place"; then
  kill -TERM -"$pid" 2>/dev/null
  left=$(( $4 * 5 ))
  while runs "$place" && [ "$left" -gt 0 ]; do sleep 0.2; left=$(( left - 1 )); done
  kill -KILL -"$pid" 2>/dev/null
elif [ -n "$pid" ] && [ ! -e "/proc/$pid" ]; then
  kill -KILL -"$pid" 2>/dev/null  # of what it has started, its number is still its own
fi
rm -rf "$place"
"""
)


class HostSlot(Struct, frozen=True, kw_only=True):
    """One folder of a host."""

    port: int
    owner: str
    id: str
    runs: bool
    is_stopped: bool  # somebody asked it to end, and it has
    age_s: float
    said: str  # last, by one that has died


def remote_words(command: Sequence[str], host: str, arguments: Sequence[str]) -> list[str]:
    """The program of this machine that has a host's shell read a script: nothing of the arguments is a command."""
    return [*(word.replace("{host}", host) for word in command), shlex.join(["sh", "-s", "--", *arguments])]


def read_slots(said: str) -> tuple[HostSlot, ...]:
    """Of the answer to FIND."""
    return tuple(_slot(line) for line in said.splitlines() if line.strip())


def _slot(line: str) -> HostSlot:
    try:
        port, owner, id, state, age_s, said = line.split("\t", 5)
        return HostSlot(
            port=int(port),
            owner=owner,
            id=id,
            runs=state == RUNS,
            is_stopped=state == STOPPED,
            age_s=float(age_s),
            said=said.strip(),
        )
    except ValueError as error:
        raise DriverUnavailable(f"it says what is not understood: {line[:LOG_BYTES]!r}") from error
