"""The versions this package is made for: torch-mlir and IREE are pinned together, torch by range."""

from __future__ import annotations

from functools import cache
from importlib import metadata

from ..errors import ToolError

__all__ = ["check_versions"]

_PINNED = {"torch-mlir": "20261001", "iree-base-compiler": "3.13.0", "iree-base-runtime": "3.13.0"}
_TORCH = ((2, 11), (2, 16))


@cache
def check_versions() -> None:
    """Check the installed versions, once per process.

    Raises:
        ToolError: a package is missing or has another version; the message says what to install.
    """
    for package, wanted in _PINNED.items():
        found = _version(package)
        # Distributors append things such as ".dev0" or "+cpu"; the pin is on the release.
        if found is None or found.split("+")[0].split("rc")[0] != wanted:
            raise ToolError(f"{package} {wanted} is needed, found {found or 'none'}: pip install {package}=={wanted}")
    found = _version("torch")
    low, high = _TORCH
    if found is None or not low <= tuple(int(part) for part in found.split(".")[:2]) < high:
        raise ToolError(
            f"torch >={low[0]}.{low[1]},<{high[0]}.{high[1]} is needed, found {found or 'none'}: "
            f"pip install 'torch>={low[0]}.{low[1]},<{high[0]}.{high[1]}'"
        )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
