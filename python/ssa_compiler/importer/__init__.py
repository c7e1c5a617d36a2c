"""TorchScript to the torch dialect: see `program.import_program` and docs/Architecture.md, "The imported module"."""

from .convention import ImportedProgram, flatten_arguments
from .outputs import build_result
from .program import import_program

__all__ = ["ImportedProgram", "build_result", "flatten_arguments", "import_program"]
