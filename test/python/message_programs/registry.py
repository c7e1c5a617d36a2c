"""Where the programs that are rejected are noted, with their messages."""

from __future__ import annotations

from typing import Any

import torch

X = torch.arange(12.0).reshape(4, 3)
PROGRAMS: list[tuple[Any, tuple[Any, ...], str]] = []
"""Program, example arguments, and a part of the message."""


def rejected(*args: Any, says: str) -> Any:
    """Note a program, and the message that it is rejected with."""

    def note(program: Any) -> Any:
        PROGRAMS.append((program, args, says))
        return program

    return note
