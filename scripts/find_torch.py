"""Which builds of torch this project supports: those of `dependencies` in pyproject.toml.

    python scripts/find_torch.py --fits                 # whether the torch of this Python is one of them
    python scripts/find_torch.py                        # the newest CPU build that pip finds, as a requirement
    python scripts/find_torch.py --series 2.15 --any    # the newest of a series, with CUDA if there is no other

CPU builds have versions such as 2.13.0+cpu; those without "+cpu" bring gigabytes of CUDA libraries.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def supported() -> tuple[tuple[int, int], tuple[int, int]]:
    """The lowest supported version, and the first one that is not supported any more."""
    found = re.search(r'"torch>=(\d+)\.(\d+),<(\d+)\.(\d+)"', PYPROJECT.read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit("pyproject.toml names no range of torch")
    low, minor, high, end = map(int, found.groups())
    return (low, minor), (high, end)


def series(version: str) -> tuple[int, int]:
    """(2, 13) of "2.13.0+cpu"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def fits(version: str) -> bool:
    """Whether a version is supported."""
    low, high = supported()
    return low <= series(version) < high


def available(index: str | None) -> list[str]:
    """The versions that pip finds, newest first.

    Args:
        index: the URL of another package index to search.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions", "torch"]
    command += ["--extra-index-url", index, "--retries", "1", "--timeout", "30"] if index else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    listed = re.search(r"Available versions: (.*)", done.stdout)
    return listed[1].split(", ") if listed else []


def chosen(versions: list[str], of: str | None = None, *, any_build: bool = False) -> str | None:
    """The version to install, of those that pip finds; None if there is none.

    Args:
        versions: newest first.
        of: "2.15" or "2.15.0": only versions that begin so.
        any_build: whether one that is no CPU build will do if there is no other.
    """
    begins = f"{of}." if of else ""
    usable = [version for version in versions if fits(version) and f"{version.split('+')[0]}.".startswith(begins)]
    builds = [version for version in usable if version.endswith("+cpu")] or (usable if any_build else [])
    return builds[0] if builds else None


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", action="store_true", help="whether the torch that is there is supported")
    parser.add_argument("--index", help="another package index to search")
    parser.add_argument("--series", help="a version, or the beginning of one")
    parser.add_argument("--any", action="store_true", help="also builds that are not for the CPU alone")
    options = parser.parse_args()
    if options.fits:
        try:
            from torch import __version__ as found
        except ImportError:
            return 1
        return 0 if fits(found) else 1
    version = chosen(available(options.index), options.series, any_build=options.any)
    if version is None:
        return 1
    print(f"torch=={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
