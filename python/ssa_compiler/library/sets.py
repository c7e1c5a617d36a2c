"""Sets of ints, strings and tuples of ints, which TorchScript has not: partial evaluation makes objects of this class.

The order in which Python goes through a set is not that of a dict; so nothing here does.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

__all__ = ["Set"]


class Set:
    """A set."""

    def __init__(self, items):
        self.keys = {}
        for item in items:
            self.keys[item] = True

    def add(self, item):
        """Add an element."""
        self.keys[item] = True

    def update(self, items):
        """Add elements."""
        for item in items:
            self.keys[item] = True

    def discard(self, item):
        """Remove an element if it is there."""
        if item in self.keys:
            del self.keys[item]

    def remove(self, item):
        """Remove an element."""
        if item not in self.keys:
            raise KeyError(item)
        del self.keys[item]

    def clear(self):
        """Remove all elements."""
        self.keys.clear()

    def __contains__(self, item):
        return item in self.keys

    def __len__(self):
        return len(self.keys)


class EmptySet(Set):
    """A set that is made without elements."""

    def __init__(self):
        self.keys = {}
