"""`collections.deque`, which TorchScript has not: partial evaluation makes objects of these classes, with a list."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, operator"

from __future__ import annotations

__all__ = ["BoundedDeque", "Deque"]


class Deque:
    """A deque without a largest length."""

    maxlen = None

    def __init__(self, items):
        self.items = []
        for item in items:
            self.items.append(item)

    def append(self, item):
        """Add an element at the right end."""
        self.items.append(item)

    def appendleft(self, item):
        """Add an element at the left end."""
        self.items.insert(0, item)

    def extend(self, items):
        """Add elements at the right end."""
        for item in items:
            self.append(item)

    def extendleft(self, items):
        """Add elements at the left end, one after the other."""
        for item in items:
            self.appendleft(item)

    def pop(self):
        """Remove the element at the right end."""
        if len(self.items) == 0:
            raise IndexError("pop from an empty deque")
        return self.items.pop()

    def popleft(self):
        """Remove the element at the left end."""
        if len(self.items) == 0:
            raise IndexError("pop from an empty deque")
        return self.items.pop(0)

    def clear(self):
        """Remove all elements."""
        self.items.clear()

    def __len__(self):
        return len(self.items)

    def __contains__(self, item):
        return item in self.items

    def __getitem__(self, index):
        if index >= len(self.items) or index < -len(self.items):
            raise IndexError("deque index out of range")
        return self.items[index]


class EmptyDeque(Deque):
    """A deque that is made without elements."""

    def __init__(self):
        self.items = []


class BoundedDeque(Deque):
    """A deque that loses elements at one end where it gets more than it may have at the other."""

    def __init__(self, items, maxlen):
        self.items = []
        self.maxlen = maxlen
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        for item in items:
            self.items.append(item)
            if len(self.items) > maxlen:
                self.items.pop(0)

    def append(self, item):
        """Add an element at the right end."""
        self.items.append(item)
        if len(self.items) > self.maxlen:
            self.items.pop(0)

    def appendleft(self, item):
        """Add an element at the left end."""
        self.items.insert(0, item)
        if len(self.items) > self.maxlen:
            self.items.pop()


class EmptyBoundedDeque(BoundedDeque):
    """A deque that is made without elements, and has a largest length."""

    def __init__(self, maxlen):
        self.items = []
        self.maxlen = maxlen
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
