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

    def copy(self):
        """Return another set with the same elements."""
        return {item for item in self.keys}  # noqa: C416

    def __or__(self, other):
        return set([item for item in self.keys] + [item for item in other.keys])  # noqa: C416

    def __and__(self, other):
        return {item for item in self.keys if item in other.keys}

    def __sub__(self, other):
        return {item for item in self.keys if item not in other.keys}

    def __xor__(self, other):
        found = [item for item in self.keys if item not in other.keys]
        return set(found + [item for item in other.keys if item not in self.keys])

    def union(self, other):
        """Return the elements of either set."""
        return self | other

    def intersection(self, other):
        """Return the elements of both sets."""
        return self & other

    def difference(self, other):
        """Return the elements that another set has not."""
        return self - other

    def symmetric_difference(self, other):
        """Return the elements of one set that the other one has not."""
        return self ^ other

    def issubset(self, other):
        """Whether another set has all elements."""
        return self <= other

    def issuperset(self, other):
        """Whether the set has all elements of another one."""
        return other <= self

    def isdisjoint(self, other):
        """Whether no element is in another set, too."""
        return len(self & other) == 0

    def __le__(self, other):
        return len(self - other) == 0

    def __lt__(self, other):
        return self <= other and len(self) < len(other)

    def __ge__(self, other):
        return other <= self

    def __gt__(self, other):
        return other < self

    def __eq__(self, other):
        return self <= other and len(self) == len(other)

    def __ne__(self, other):
        return not self == other

    def __contains__(self, item):
        return item in self.keys

    def __len__(self):
        return len(self.keys)


class EmptySet(Set):
    """A set that is made without elements."""

    def __init__(self):
        self.keys = {}
