"""Which wheels a machine can use, by a name that its owner knows: linux-x86_64, linux-aarch64, macos-arm64."""

from typing import Final

GLIBC_MINORS: Final = range(28, 4, -1)  # 2.28 is that of RHEL 8 and Debian 10, and later ones can use its wheels
LEGACY: Final = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}  # older names of some of them
LINUX: Final = ("x86_64", "aarch64")
MACOS: Final = {"arm64": range(14, 10, -1), "x86_64": range(14, 10, -1)}
PLATFORMS: Final = (*(f"linux-{machine}" for machine in LINUX), *(f"macos-{machine}" for machine in MACOS))


def tags(platform: str) -> list[str]:
    """pip's names of it, the newest first; raises ValueError for one that is not known."""
    system, _, machine = platform.partition("-")
    if system == "linux" and machine in LINUX:
        made = []
        for minor in GLIBC_MINORS:
            made.append(f"manylinux_2_{minor}_{machine}")
            if minor in LEGACY:
                made.append(f"{LEGACY[minor]}_{machine}")
        return [*made, f"linux_{machine}"]
    if system == "macos" and machine in MACOS:
        versions = [f"{major}_0" for major in MACOS[machine]]
        return [f"macosx_{version}_{kind}" for version in versions for kind in (machine, "universal2")]
    raise ValueError(f'the platform "{platform}" is none of {", ".join(PLATFORMS)}')
