# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Objects that are changed after they were put into a list of dynamic length: they are rows of an arena, so that all
lists and variables that have one see its changes.
"""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 1.0, -1.0], [-3.0, 1.0, 1.0], [2.0, 2.0, 2.0], [0.0, 1.0, 0.5]])
CASES = [(x, n) for x in (X, -X, X.abs()) for n in (4, 0, 1, 2, 5)]


@dataclass
class Track:
    number: int
    mean: Tensor
    hits: int = 1
    confirmed: bool = False

    def seen(self, x):
        self.mean = self.mean * 0.5 + x
        self.hits += 1


class Plain:
    def __init__(self, number: int, mean: Tensor):
        self.number = number
        self.mean = mean
        self.hits = 0


def changed_in_a_loop(x, n: int):
    tracks = []
    for k in range(n):
        for track in tracks:
            track.seen(x[k])
        if x[k].sum() > 0:
            tracks.append(Track(k, x[k]))
    means = [track.mean for track in tracks]
    return [track.number for track in tracks], [track.hits for track in tracks], torch.stack(means) if means else x[:0]


def in_two_lists_and_a_variable(x, n: int):
    tracks, late = [], []
    for k in range(n):
        made = Plain(k, x[k])
        tracks.append(made)
        if k % 2:
            late.append(made)
        made.hits += 10
        tracks[0].hits += 1
    for track in late:
        track.mean = track.mean + 100
        track.number = -track.number
    return [t.number for t in tracks], [t.hits for t in late], torch.stack([x[0], *[t.mean for t in tracks]])


def of_two_variables(x, n: int):
    tracks = []
    for k in range(n):
        tracks.append(Track(k, x[k]))
    if n > 1:
        first, last = tracks[0], tracks[-1]
        best = first if x[0, 0] > 0 else last
        best.mean = best.mean * 2
        best.confirmed = True
        first.hits = last.hits + 5
        return (
            tracks[0].mean,
            tracks[n - 1].mean,
            [t.hits for t in tracks if t.confirmed],
            first is tracks[0],
            best is last,
        )
    return x[0], x[0], [7], True, n == 1


def filtered(frames: list[Tensor]):
    tracks: list[Track] = []
    number, found = 0, []
    for frame in frames:
        for track in tracks:
            track.hits -= 1
            track.mean = track.mean + frame.sum()
        for row in range(int(frame[0].abs()) % 3):
            tracks.append(Track(number, frame * row, 2))
            number += 1
        tracks = [track for track in tracks if track.hits > 0]
        found.append(len(tracks))
    return found, [track.number for track in tracks], [track.mean for track in tracks]


@pytest.mark.parametrize("program", [changed_in_a_loop, in_two_lists_and_a_variable, of_two_variables])
def test_all_names_see_a_change(program):
    check(program, *CASES, compiled=False)


def test_lists_that_are_replaced():
    frames = [torch.arange(3.0) + k for k in range(4)]
    check(filtered, *(([scale * frame for frame in frames],) for scale in (1, 2, 0)), compiled=False)


@pytest.mark.slow
def test_compiled():
    check(in_two_lists_and_a_variable, *CASES)


def returned(x, n: int):
    tracks, late = [], []
    for k in range(n):
        tracks.append(Plain(k, x[k] * 2))
        if k % 2:
            late.append(tracks[-1])
        tracks[0].hits += 1
    return tracks, late, tracks[-1] if n > 0 else None


def test_objects_that_are_returned():
    """Each is one object, in however many places of the result it is."""
    check(returned, *CASES, compiled=False)
    compiled = ssa_compiler.compile(returned, (X, 4), fullgraph=True)
    for n in (4, 0, 1, 5):
        tracks, late, last = compiled(X, n)
        assert [track.hits for track in tracks] == [n, *[0] * (n - 1)][:n]
        assert [next(k for k, track in enumerate(tracks) if track is each) for each in late] == list(range(1, n, 2))
        assert last is (tracks[-1] if n > 0 else None)


def of_two_shapes(x, n: int):
    tracks = []
    for k in range(n):
        tracks.append(Plain(k, x[k]))
        tracks[0].mean = x
    return [track.number for track in tracks]


def test_what_is_not_kept_is_rejected():
    """An attribute holds tensors of one shape."""

    def dynamic(x):
        return of_two_shapes(x, int(x[0, 0].abs()))

    with pytest.raises(errors.SsaCompilerError, match="its elements differ"):
        ssa_compiler.compile(dynamic, (X,), fullgraph=True)


def records(x, n: int):
    """Dicts of elements of several types, of which one is chosen by a loop, and is changed in a list."""
    found = []
    best = {"score": 0.0, "place": -1}
    for i in range(n):
        if x[i, 0] > best["score"]:
            best = {"score": float(x[i, 0]), "place": i}
            found.append(best)
        best["place"] += 10
    for each in found:
        each["score"] = each["score"] * 2
    return found, best


def test_dicts_of_several_types():
    check(records, *CASES, compiled=False)
    found, best = ssa_compiler.compile(records, (X, 4), fullgraph=True)(X, 4)
    assert best is found[-1]


class Tracker:
    def __init__(self):
        self.tracks = []

    def step(self, frame):
        for track in self.tracks:
            track.hits -= 1
        free = set(range(len(frame)))
        for track in self.tracks:
            for j in range(len(frame)):
                if j in free and torch.equal(frame[j, 1:].sign(), track.mean[1:].sign()):
                    track.mean = frame[j]
                    track.hits += 3
                    free.discard(j)
                    break
        for j in sorted(free):
            self.tracks.append(Plain(j, frame[j]))
        self.tracks = [track for track in self.tracks if track.hits > -2]
        return [track.number for track in self.tracks]


class Clip(torch.nn.Module):
    """The list is made by the call of one iteration, and turns out to be dynamic in that of a later one."""

    def forward(self, frames):
        tracker = Tracker()
        numbers = [tracker.step(frame) for frame in frames]
        return numbers, torch.stack([frames[0][0], *[track.mean for track in tracker.tracks]])


@pytest.mark.slow
def test_a_list_of_an_earlier_iteration():
    check(
        Clip(), *(([x[:3], y, z],) for x in (X, -X) for y in (X[:2], X[3:]) for z in (X[2:3], -X[:1])), compiled=False
    )


def chosen(x, n: int):
    """It is in no list: a loop has replaced it."""
    best = Plain(-1, x[0] * 0)
    for i in range(n):
        if x[i, 0] > 0:
            best = Plain(i, x[i] * 1)
        best.hits += 1
        best.mean = best.mean + 1
    return best.number, best.hits, best.mean


def test_an_object_that_a_loop_replaces():
    check(chosen, *CASES, compiled=False)
