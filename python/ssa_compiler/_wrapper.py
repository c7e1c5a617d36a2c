"""What stands in the place of a function or module that is compiled when it is called."""

from __future__ import annotations

from typing import Any

__all__ = ["ModelWrapper"]


class ModelWrapper:
    """A callable that compiles a model; a program that calls it is compiled as if it called the model."""

    @property
    def model(self) -> Any:
        """The user's program."""
        raise NotImplementedError
