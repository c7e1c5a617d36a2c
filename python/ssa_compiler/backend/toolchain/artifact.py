"""A compiled program with what is known of how it was made, and its form on disk: two MLIR texts, the code, and
JSON.
"""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...abi.callback_sites import Argument, CallbackSite, Constant, Listed, Passed
from ...abi.kernel_interface import KernelInterface
from ...errors import SourceLocation
from ...process.child_processes import remove_with
from .cache import ProgramCache
from .targets import Target

__all__ = ["PROGRAM", "Artifact", "from_files", "take_artifact", "to_files"]

_logger = logging.getLogger(__name__)

PROGRAM = "program.vmfb"
_MODULE, _STREAM, _FACTS = "module.mlir", "stream.mlir", "artifact.json"


@dataclass(frozen=True)
class Artifact:
    """A compiled program.

    Attributes:
        path: the `.vmfb` file, written once and never changed; it lives as long as this object.
        target: what it is compiled for.
        callbacks: the ops that run in PyTorch.
        copies: opaque copies that were put in.
        attempts: how often iree-compile ran; for a program from the cache, when it was made.
        module: the module that was compiled, as text; of a program that is one kernel, scheduled and with the kernel.
        stream: the stream IR that was checked, as text; "" for a program that is one kernel: nothing is to be checked.
        seconds: time by step: "prepare", "iree-compile", "verify"; "cache" for looking it up and keeping it.
        cached: whether it comes from the cache on disk (`cache`).
        linalg: the linalg stage of a program that is one kernel, as text; "" for one from the cache.
        kernel: the kernels of the program, as text; "" if it consists of IREE's dispatches.
        kernel_reason: why the whole program is none, if that was tried.
        kernels: how many kernels there are: the whole program, or parts of it.
        ops: how many ops of PyTorch's are compiled.
        interface: how it is called, if the whole program is one kernel.
        entry: the name of its entry in the cache, "" if it is not kept.
    """

    path: str
    target: Target
    callbacks: tuple[CallbackSite, ...]
    copies: int
    attempts: int
    module: str
    stream: str
    seconds: dict[str, float] = field(default_factory=dict)
    cached: bool = False
    linalg: str = ""
    kernel: str = ""
    kernel_reason: str = ""
    kernels: int = 0
    ops: int = 0
    interface: KernelInterface | None = None
    entry: str = ""

    @property
    def is_kernel(self) -> bool:
        """Whether the whole program is one kernel."""
        return self.interface is not None


def to_files(artifact: Artifact, program: bytes) -> dict[str, bytes]:
    """Return what to keep of an artifact, by file name.

    Args:
        artifact: what was made.
        program: the content of its file.
    Raises:
        TypeError: a callback has a constant that JSON does not give back as it was.
    """
    facts = {
        "callbacks": [_write_site(site) for site in artifact.callbacks],
        "copies": artifact.copies,
        "attempts": artifact.attempts,
        "kernel": artifact.kernel,
        "kernel_reason": artifact.kernel_reason,
        "kernels": artifact.kernels,
        "ops": artifact.ops,
        "interface": asdict(artifact.interface) if artifact.interface is not None else None,
    }
    return {
        PROGRAM: program,
        _MODULE: artifact.module.encode(),
        _STREAM: artifact.stream.encode(),
        _FACTS: json.dumps(facts, indent=1).encode(),
    }


def from_files(files: Mapping[str, bytes], path: str, target: Target) -> Artifact:
    """Return the artifact that `to_files` was given.

    Args:
        files: what it returned.
        path: where the program lies now.
        target: what it was compiled for.
    Raises:
        KeyError, TypeError, ValueError: the files were not made by `to_files`.
    """
    facts = json.loads(files[_FACTS])
    return Artifact(
        path,
        target,
        tuple(_read_site(site) for site in facts["callbacks"]),
        int(facts["copies"]),
        int(facts["attempts"]),
        files[_MODULE].decode(),
        files[_STREAM].decode(),
        cached=True,
        kernel=str(facts["kernel"]),
        kernel_reason=str(facts["kernel_reason"]),
        kernels=int(facts["kernels"]),
        ops=int(facts["ops"]),
        interface=KernelInterface.read(facts["interface"]) if facts["interface"] is not None else None,
    )


def take_artifact(
    cache: ProgramCache,
    name: str,
    target: Target,
    known_here: Callable[[tuple[CallbackSite, ...]], tuple[CallbackSite, ...]] = lambda callbacks: callbacks,
) -> Artifact | None:
    """Return a program from the cache, None if it is not there or damaged.

    Args:
        cache: the cache.
        name: of the entry.
        target: what it was compiled for.
        known_here: makes of its callbacks, some of which may call operators of another process, those of this one.
    """
    files = cache.look_up(name)
    if files is None:
        return None
    folder = tempfile.mkdtemp(prefix="ssa-compiler-")
    try:
        path = Path(folder) / PROGRAM
        artifact = from_files(files, str(path), target)
        artifact = replace(artifact, callbacks=known_here(artifact.callbacks), entry=name)
        path.write_bytes(files[PROGRAM])  # the entry may be removed before the program is loaded
    except (KeyError, TypeError, ValueError) as error:
        _logger.debug("cache entry %s: %s", name, error)
        shutil.rmtree(folder, ignore_errors=True)
        cache.remove(name)
        return None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    remove_with(artifact, folder)
    return artifact


def _write_site(site: CallbackSite) -> dict[str, Any]:
    return {
        "name": site.name,
        "op": site.op,
        "arguments": [_write_argument(argument) for argument in site.arguments],
        "results": [_write_argument(result) for result in site.results],
        "convention": site.convention,
        "location": [site.location.file, site.location.line] if site.location is not None else None,
        "reason": site.reason,
        "extern": site.extern,
    }


def _read_site(site: Mapping[str, Any]) -> CallbackSite:
    results = tuple(_read_argument(result) for result in site["results"])
    return CallbackSite(
        site["name"],
        site["op"],
        tuple(_read_argument(argument) for argument in site["arguments"]),
        tuple(result for result in results if isinstance(result, Passed)),
        site["convention"],
        SourceLocation(*site["location"]) if site["location"] is not None else None,
        site["reason"],
        site["extern"],
    )


def _write_argument(argument: Argument) -> dict[str, Any]:
    if isinstance(argument, Passed):
        return {"passed": argument.kind, "dtype": argument.dtype}
    if isinstance(argument, Listed):
        return {"list": [_write_argument(item) for item in argument.items]}
    if not isinstance(argument.value, int | float | bool | str | None):
        raise TypeError(f"a constant of type {type(argument.value).__name__}")
    return {"constant": argument.value}


def _read_argument(entry: Mapping[str, Any]) -> Argument:
    if "passed" in entry:
        return Passed(entry["passed"], entry["dtype"])
    if "list" in entry:
        return Listed(tuple(_read_argument(item) for item in entry["list"]))
    return Constant(entry["constant"])
