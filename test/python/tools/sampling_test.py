"""Which tests `make test` takes of all."""

from __future__ import annotations

from _sampling import CASES, SLOW, Case, chosen

_CASES = [
    Case("a.py::single", "a.py::single"),
    Case("a.py::slow", "a.py::slow", slow=True),
    *(Case(f"a.py::many[{number}]", "a.py::many") for number in range(400)),
    *(Case(f"a.py::slow_ones[{number}]", "a.py::slow_ones", slow=True) for number in range(400)),
]


def test_each_function_runs_unless_it_is_slow() -> None:
    for seed in ("", "0", "1f2e"):
        taken = [case for case, runs in zip(_CASES, chosen(_CASES, seed), strict=True) if runs]
        assert taken[0].name == "a.py::single"
        assert "a.py::many[0]" in [case.name for case in taken]
        counts = [sum(case.function.endswith(name) for case in taken) for name in ("many", "slow_ones")]
        assert all(abs(count - 400 / share) < 40 for count, share in zip(counts, (CASES, SLOW), strict=True))


def test_seeds_take_different_ones_and_all_in_the_end() -> None:
    runs = [chosen(_CASES, f"{seed}") for seed in range(60)]
    assert len(set(map(tuple, runs))) == max(CASES, SLOW)
    assert all(map(any, zip(*runs, strict=True)))
    assert chosen(_CASES, "7") == runs[7]
