"""Reads this project's docstrings for mkdocstrings: sections need no empty line in front, and pages of docs/ become
links.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_SECTION = re.compile(r"(?<!\n)\n(?=(?:Args|Attributes|Raises|Returns|Yields):\n)")
_PAGE = re.compile(r"\bdocs/([\w/]+)\.md\b")


class DocstringSections(Extension):
    """Rewrites docstrings as they are read."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite one docstring; the pages that show them are in docs/reference."""
        if obj.docstring is not None:
            text = _SECTION.sub("\n\n", obj.docstring.value)
            obj.docstring.value = _PAGE.sub(r"[\1](../\1.md)", text)
