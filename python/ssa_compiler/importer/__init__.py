"""TorchScript to the torch dialect: see `program.import_program` and docs/Architecture.md, "The imported module"."""

from .convention import ImportedProgram
from .program import import_program

__all__ = ["ImportedProgram", "import_program"]
