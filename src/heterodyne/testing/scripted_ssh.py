"""Stands in for `ssh`: hosts are folders of this machine, and what is run on them is run here.

It takes the words that `fleet.ssh_command` has, and runs the last one by a shell whose home is the host's folder. There
is no network, no login and no encryption in it; a host that is away refuses in the words of OpenSSH and with its code.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

NO_CONNECTION = 255
FDS = 1024


class ScriptedSsh:
    """The hosts below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def command(self) -> tuple[str, ...]:
        """For `fleet.ssh_command`."""
        return (sys.executable, "-I", "-S", __file__, str(self._folder), "{host}")

    def home(self, host: str) -> Path:
        """The folder that a host's processes begin in."""
        home = self._folder / "homes" / host
        home.mkdir(parents=True, exist_ok=True)
        return home

    def away(self, host: str, *, is_away: bool = True) -> None:
        """Whether a host refuses connections; what runs there goes on."""
        mark = self._mark(host)
        mark.parent.mkdir(parents=True, exist_ok=True)
        if is_away:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    def is_away(self, host: str) -> bool:
        """Whether it does."""
        return self._mark(host).exists()

    def close(self) -> None:
        """End all that was started by the driver, and forget it."""
        for file in self._folder.glob("homes/*/*/*/pid"):
            try:
                os.killpg(int(file.read_text()), signal.SIGKILL)
            except (ProcessLookupError, FileNotFoundError, ValueError):  # it ends by itself meanwhile
                continue
        shutil.rmtree(self._folder, ignore_errors=True)

    def _mark(self, host: str) -> Path:
        return self._folder / "away" / host


def main() -> None:
    """`scripted_ssh FOLDER HOST COMMAND`."""
    folder, host, command = sys.argv[1:]
    hosts = ScriptedSsh(Path(folder))
    if hosts.is_away(host):
        print(f"ssh: connect to host {host} port 22: Connection refused", file=sys.stderr)  # noqa: T201
        sys.exit(NO_CONNECTION)
    os.closerange(3, FDS)  # as nothing of what is open here is open on another machine
    home = str(hosts.home(host))
    os.chdir(home)
    os.execve("/bin/sh", ["sh", "-c", command], {**os.environ, "HOME": home})  # noqa: S606  # what ssh does there


if __name__ == "__main__":
    main()
