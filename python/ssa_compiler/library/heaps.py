"""The functions of `heapq`, with the comparisons of Python's, in the same order: equal elements come out as there.

Partial evaluation makes copies of these for the types of the elements.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import heapq

__all__ = ["HEAPS", "heapify", "heappop", "heappush", "heappushpop", "heapreplace"]


def heappush(heap, item):
    """Put an element into a heap."""
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap):
    """Take the smallest element out of a heap."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return first


def heapreplace(heap, item):
    """Take the smallest element out of a heap, and put another one in behind that."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return first


def heappushpop(heap, item):
    """Put an element into a heap, and take the smallest one out behind that."""
    if len(heap) == 0 or not heap[0] < item:
        return item
    return heapreplace(heap, item)


def heapify(heap):
    """Make a heap of a list."""
    count = len(heap) // 2
    for number in range(count):
        _sink(heap, count - 1 - number)


def _rise(heap, first, place):
    """Move an element towards the root as far as its parents are larger."""
    item = heap[place]
    while place > first:
        above = (place - 1) // 2
        parent = heap[above]
        if not item < parent:
            break
        heap[place] = parent
        place = above
    heap[place] = item


def _sink(heap, place):
    """Move an element to a leaf, along the smaller ones of its children, and from there up again."""
    first = place
    item = heap[place]
    child = 2 * place + 1
    while child < len(heap):
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _rise(heap, first, place)


HEAPS = {
    heapq.heapify: heapify,
    heapq.heappop: heappop,
    heapq.heappush: heappush,
    heapq.heappushpop: heappushpop,
    heapq.heapreplace: heapreplace,
}
"""What stands for the functions of Python's."""
