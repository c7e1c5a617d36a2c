"""One small program for each message of the importer; `messages_test.py` imports them and looks at what is raised.

The line that the message is about ends in `# rejected`. Annotations are evaluated, as TorchScript reads those of
ignored functions as they are.
"""

from . import dicts_and_sets, lists, objects, ops, tuples, values
from .registry import PROGRAMS

__all__ = ["PROGRAMS", "dicts_and_sets", "lists", "objects", "ops", "tuples", "values"]
