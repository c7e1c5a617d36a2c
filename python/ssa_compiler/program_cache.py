"""Whole programs in the cache on disk: the calling convention and the IR of each stage, beside the compiled code.

A program is found by what its import depends on (`KeyedSource.key`) without importing it, so that neither the importer
nor the compilers are loaded. The code is an entry of its own, which the backend finds by the text of a module
(`backend/toolchain/cache.py`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import pickle
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._opt import find_ssa_opt
from .abi import ImportedProgram, Signature
from .backend.toolchain.artifact import Artifact, take_artifact
from .backend.toolchain.cache import ProgramCache, digest_of_key, open_cache
from .errors import ToolError
from .frontend import KeyedSource, Source
from .options import ImportOptions, Options
from .process.logs import LOGS

if TYPE_CHECKING:
    from .abi.callback_sites import CallbackSite
    from .backend import Target

__all__ = ["CachedProgram", "ProgramEntry", "find_entry"]

_CONVENTION = "program.pickle"
_OWN_NAME = re.compile(rb"_ssa_compiler_(?:object|class)_\d")
"""A name of a class that partial evaluation has made, which another process gives another number."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class CachedProgram:
    """What is kept of a specialisation; see there."""

    imported: ImportedProgram
    stages: dict[str, str]
    artifact: Artifact
    signature: Signature


@dataclass(frozen=True)
class ProgramEntry:
    """The place of a program in the cache.

    Attributes:
        kept: the cache.
        name: the entry's name.
        source: whose program it is.
    """

    kept: ProgramCache
    name: str
    source: KeyedSource

    def load(self, target: Target) -> CachedProgram | None:
        """Return the program, None if it is not there or cannot be read.

        Args:
            target: what it is compiled for.
        """
        files = self.kept.look_up(self.name)
        program = None
        if files is not None:
            try:
                program = self._read(files[_CONVENTION], target)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the program can be compiled
                _logger.debug("cache entry %s: %s", self.name, error)
            if program is None:
                self.kept.remove(self.name)
        found = "found" if program is not None else "not found"
        logging.getLogger(LOGS["cache"]).info("program %s: %s", self.name[:16], found)
        return program

    def _read(self, convention: bytes, target: Target) -> CachedProgram | None:
        imported, read, stages, signature, entry, exceptions = pickle.loads(convention)

        def with_own(callbacks: tuple[CallbackSite, ...]) -> tuple[CallbackSite, ...]:
            from .semantics.kept_exceptions import with_exceptions

            return with_exceptions(callbacks, exceptions) if exceptions else callbacks

        artifact = take_artifact(self.kept, entry, target, with_own)
        if artifact is None:
            return None
        objects = self.source.objects()
        return CachedProgram(imported.owned_by(self.source.owner(), read, objects), stages, artifact, signature)

    def keep(self, program: CachedProgram) -> None:
        """Keep a program, if another process can use it: the names of Python functions that it calls, and of classes
        that it was given, are this process's own.
        """
        from .semantics.kept_exceptions import keep_exceptions

        artifact, imported = program.artifact, program.imported
        exceptions = keep_exceptions(artifact.callbacks)
        if not imported.can_be_kept or not artifact.entry or exceptions is None:
            return
        read = imported.facts.read if imported.facts is not None else None
        try:
            unowned = imported.without_owner()
            if _OWN_NAME.search(pickle.dumps(replace(unowned, module=""))) is not None:
                return
            facts = (unowned, read, program.stages, program.signature, artifact.entry, exceptions)
            convention = pickle.dumps(facts)
        except Exception as error:  # noqa: BLE001 - classes of the user's may raise anything
            _logger.debug("%s is not kept: %s", imported.name, error)
            return
        self.kept.store(self.name, {_CONVENTION: convention})


def find_entry(
    source: Source,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    asked: ImportOptions,
    target: Target,
    options: Options,
) -> ProgramEntry | None:
    """Return the place of a program in the cache, None where it has none.

    Args:
        source: the user's program.
        args: positional arguments.
        kwargs: keyword arguments.
        asked: what its import is asked for.
        target: what to compile for.
        options: how to compile it.
    Raises:
        SsaCompilerError: TorchScript rejects the model, ssa-opt is missing, or an environment variable has no meaning.
    """
    kept = open_cache() if options.cache and options.dump_dir is None else None
    if kept is None or not isinstance(source, KeyedSource):
        return None
    key = source.key(tuple(args), dict(kwargs), asked)
    if key is None:
        return None
    try:
        tool = Path(find_ssa_opt(options.ssa_opt)).stat()
    except (ToolError, OSError):
        return None  # who needs it says so
    depends = [key, _sources(), [tool.st_size, tool.st_mtime_ns, tool.st_ino], sys.version]
    text = hashlib.sha256(json.dumps(depends).encode()).hexdigest()
    return ProgramEntry(kept, digest_of_key(text, target, options.timeout_s), source)


@cache
def _sources() -> str:
    """A digest of which sources the compiler consists of, by size and time: reading them all would take longer than a
    hit.
    """
    package = Path(__file__).resolve().parent
    found = []
    for source in sorted(package.rglob("*.py")):
        facts = source.stat()
        found.append((str(source.relative_to(package)), facts.st_size, facts.st_mtime_ns))
    return hashlib.sha256(repr(found).encode()).hexdigest()
