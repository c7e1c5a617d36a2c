"""Random imperative programs, and what the compiler makes of them beside eager PyTorch: see docs/Fuzzing.md."""

from .generate import generate
from .program import Program, load

__all__ = ["Program", "generate", "load"]
