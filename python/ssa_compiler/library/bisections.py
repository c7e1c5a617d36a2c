"""The functions of `bisect`: places in sorted lists.

Partial evaluation makes copies of these for the types of the elements.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import bisect

__all__ = ["BISECTIONS", "bisect_left", "bisect_right", "insort_left", "insort_right"]


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    """Return the first place at which a list stays sorted if an element is inserted there."""
    first, end = _bounds(a, lo, hi)
    while first < end:
        middle = (first + end) // 2
        element = a[middle]
        value = element if key is None else key(element)
        if value < x:
            first = middle + 1
        else:
            end = middle
    return first


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    """Return the last place at which a list stays sorted if an element is inserted there."""
    first, end = _bounds(a, lo, hi)
    while first < end:
        middle = (first + end) // 2
        element = a[middle]
        value = element if key is None else key(element)
        if x < value:
            end = middle
        else:
            first = middle + 1
    return first


def _bounds(a, lo, hi):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, (len(a) if hi is None else hi)


def insort_left(a, x, lo=0, hi=None, *, key=None):
    """Insert an element in front of equal ones."""
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    """Insert an element behind equal ones."""
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


BISECTIONS = {
    bisect.bisect_left: bisect_left,
    bisect.bisect_right: bisect_right,
    bisect.insort_left: insort_left,
    bisect.insort_right: insort_right,
}
"""What stands for the functions of Python's."""
