"""The cache on disk: what was compiled once is not compiled again by the next process.

An entry is a folder of files, named by a digest of everything that the result depends on. It is written elsewhere and
renamed, so that it is there as a whole or not at all, also with several processes at work; a table of digests in it
tells a file that has changed since, and such an entry is removed. Entries that were not used for longest go when all
together take too much. Nothing that goes wrong here, such as a full disk, keeps a program from being compiled.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...errors import ToolError
from ...process.child_processes import memory_limit
from .targets import Target

__all__ = [
    "CACHE_VARIABLE",
    "FOLDER_VARIABLE",
    "SIZE_VARIABLE",
    "ProgramCache",
    "digest_of",
    "digest_of_command",
    "digest_of_key",
    "is_off",
    "open_cache",
]

# Any of `_OFF` turns the cache off.
CACHE_VARIABLE = "SSA_COMPILER_CACHE"
_OFF = frozenset({"0", "off", "false", "no"})
# Its folder; `ssa-compiler` in the user's folder for caches (XDG_CACHE_HOME, else ~/.cache) if not set.
FOLDER_VARIABLE = "SSA_COMPILER_CACHE_DIR"
# What all entries together may take, in GiB.
SIZE_VARIABLE = "SSA_COMPILER_CACHE_SIZE"

_DEFAULT_SIZE_GIB = 2.0
_DIGESTS = "digests.json"
_TEMPORARY = ".tmp-"
# A temporary folder that is older belongs to a process that has died.
_ABANDONED_S = 3600.0
_VERSIONED = ("torch", "torch-mlir", "iree-base-compiler", "iree-base-runtime")

_logger = logging.getLogger(__name__)


class ProgramCache:
    """Entries in a folder.

    Args:
        folder: where they lie; made, for this user only, when the first is written.
        limit: what they may take together in bytes.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._room = 0  # bytes to write before the entries are looked through again

    def look_up(self, name: str) -> dict[str, bytes] | None:
        """Return the files of an entry by name, None if there is none or it is damaged.

        Args:
            name: what it was stored as.
        """
        entry = self._folder / name
        try:
            if not self._is_private():
                return None
            digests = json.loads((entry / _DIGESTS).read_bytes())
            files = {file: (entry / file).read_bytes() for file in digests}
            if any(hashlib.sha256(content).hexdigest() != digests[file] for file, content in files.items()):
                raise ValueError("a file has changed")
            os.utime(entry)  # used now
        except FileNotFoundError:
            if entry.exists():
                self.remove(name)
            return None
        except (OSError, ValueError, AttributeError, TypeError) as error:
            _logger.debug("cache entry %s: %s", name, error)
            self.remove(name)
            return None
        return files

    def store(self, name: str, files: Mapping[str, bytes]) -> None:
        """Write an entry, and remove old ones if all take too much now. One of that name that is there already stays.

        Args:
            name: a digest, as of `digest_of`.
            files: contents by file name.
        """
        temporary = None
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_private() or sum(map(len, files.values())) > self._limit:
                return
            temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=self._folder))
            for file, content in files.items():
                (temporary / file).write_bytes(content)
            digests = {file: hashlib.sha256(content).hexdigest() for file, content in files.items()}
            (temporary / _DIGESTS).write_text(json.dumps(digests), encoding="utf-8")
            os.rename(temporary, self._folder / name)  # fails where another process was quicker
            temporary = None
            self._room -= sum(map(len, files.values()))
            if self._room < 0:
                self._shrink()
        except OSError as error:
            _logger.debug("cache entry %s is not kept: %s", name, error)
        finally:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)

    def remove(self, name: str) -> None:
        """Remove an entry; whoever reads it at this moment finds all of a file or nothing."""
        aside = self._folder / f"{_TEMPORARY}{name}-{os.getpid()}"
        try:
            os.rename(self._folder / name, aside)
        except OSError as error:
            _logger.debug("cache entry %s cannot be removed: %s", name, error)
            return
        shutil.rmtree(aside, ignore_errors=True)

    def _is_private(self) -> bool:
        """Whether nobody else can put programs here: they are machine code that this process runs."""
        found = os.lstat(self._folder)
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
        if not private:
            _logger.warning("the compile cache is not used: others may write to %s", self._folder)
        return private

    def _shrink(self) -> None:
        """Remove the entries that were not used for longest until the others fit."""
        entries = []
        for entry in os.scandir(self._folder):
            try:
                used = entry.stat(follow_symlinks=False).st_mtime
                if entry.name.startswith(_TEMPORARY):
                    if used < time.time() - _ABANDONED_S:
                        shutil.rmtree(entry.path, ignore_errors=True)
                    continue
                entries.append((used, sum(file.stat().st_size for file in os.scandir(entry.path)), entry.name))
            except OSError:  # another process has removed it
                continue
        total = sum(size for _, size, _ in entries)
        for _, size, name in sorted(entries):
            if total <= self._limit:
                break
            self.remove(name)
            total -= size
        self._room = max(self._limit - total, 0) // 4  # other processes write, too


def is_off(variable: str) -> bool:
    """Whether an environment variable turns off what it names.

    Args:
        variable: its name.
    """
    return os.environ.get(variable, "").strip().lower() in _OFF


def open_cache() -> ProgramCache | None:
    """Return the cache that the environment asks for, None if it is turned off.

    Raises:
        ToolError: an environment variable has no meaning.
    """
    if is_off(CACHE_VARIABLE):
        return None
    text = os.environ.get(SIZE_VARIABLE, "")
    try:
        gib = float(text) if text else _DEFAULT_SIZE_GIB
    except ValueError:
        gib = -1.0
    if not 0.0 <= gib < 2**30:
        raise ToolError(f"{SIZE_VARIABLE}: expected a number of GiB; got {text!r}")
    folder = os.environ.get(FOLDER_VARIABLE, "")
    try:
        usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ssa-compiler"
    except RuntimeError:  # the user has no home
        usual = None
    chosen = Path(folder) if folder else usual
    return _cache_in(chosen / "programs", int(gib * 2**30)) if chosen is not None else None


@functools.lru_cache(maxsize=16)
def _cache_in(folder: Path, limit: int) -> ProgramCache:
    """One for each folder: it remembers how full that is."""
    return ProgramCache(folder, limit)


def digest_of(text: str, target: Target, timeout_s: float, kernel_maker: str | None = None) -> str:
    """Return the name of the entry for a program: a digest of what its compilation depends on.

    Args:
        text: the module with locations, which errors and callbacks show.
        target: what to compile for.
        timeout_s: wall-clock limit of a tool in seconds; an op that exceeds a limit runs in PyTorch.
        kernel_maker: the ssa-opt executable that makes kernels; None if none are made.
    """
    depends: list[Any] = [
        _surroundings(),
        text,
        target.kind,
        target.architecture,
        list(target.flags),
        target.workgroups,
        target.library_threads,
    ]
    depends += [timeout_s, memory_limit()]
    depends += [_content(kernel_maker) if kernel_maker is not None else ""]
    return hashlib.sha256(json.dumps(depends).encode()).hexdigest()


def digest_of_command(command: Sequence[str], timeout_s: float) -> str:
    """Return the name of the entry for what is known of iree-compile with some flags.

    Args:
        command: iree-compile and its flags, without input and output.
        timeout_s: wall-clock limit of a run in seconds.
    """
    depends: list[Any] = [_surroundings(), list(command), timeout_s, memory_limit()]
    return hashlib.sha256(json.dumps(depends).encode()).hexdigest()


def digest_of_key(key: str, target: Target, timeout_s: float) -> str:
    """Return the name of the entry for a whole program.

    Args:
        key: a digest of everything but the versions of other packages, the target and the limits.
        target: what to compile for.
        timeout_s: wall-clock limit of a tool in seconds.
    """
    return digest_of(f"program {key}", target, timeout_s)


@cache
def _content(path: str) -> str:
    """A digest of a file, which no process changes while it uses it."""
    with Path(path).open("rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


@cache
def _surroundings() -> str:
    """Versions of everything that takes part, the sources of this backend and of how programs are called, and the
    processor, which CPU code is made for.
    """
    found = hashlib.sha256()
    package = Path(__file__).resolve().parents[2]
    sources = [*package.glob("backend/**/*.py"), *package.glob("abi/*.py"), package / "process/child_processes.py"]
    for source in sorted(sources):
        found.update(str(source.relative_to(package)).encode() + b"\0" + source.read_bytes())
    for name in _VERSIONED:
        try:
            found.update(f"{name} {version(name)}\n".encode())
        except PackageNotFoundError:
            continue
    found.update(_processor().encode())
    return found.hexdigest()


def _processor() -> str:
    """What /proc/cpuinfo says of the first processor's kind and instructions."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
    except OSError:
        return ""
    wanted = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
    return "\n".join(line for line in first.splitlines() if line.partition(":")[0].strip() in wanted)
