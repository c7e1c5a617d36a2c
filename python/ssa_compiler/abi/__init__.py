"""How Python calls a compiled program: what goes in, what has to hold, what comes back (docs/Architecture.md).

The importer writes this down and the runtime follows it, perhaps in another process: nothing here needs the compiler.
"""

from .convention import ImportedProgram, flatten_arguments
from .results import build_result
from .signature import Signature

__all__ = ["ImportedProgram", "Signature", "build_result", "flatten_arguments"]
