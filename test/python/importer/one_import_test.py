"""One thread imports at a time, and the source of a function is read once in an import."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import pytest

from ssa_compiler.importer.isolation.one_import import importing


def some_function() -> int:
    return 1


def test_a_source_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    find = inspect.getsourcelines

    def counted(thing: Any) -> Any:
        asked.append(thing)
        return find(thing)

    monkeypatch.setattr(inspect, "getsourcelines", counted)
    with importing():
        first = inspect.getsourcelines(some_function)
        first[0].clear()  # whoever asked may change what it got
        with importing():
            assert "some_function" in inspect.getsource(some_function)
        assert inspect.getsourcelines(some_function) == find(some_function)
        assert asked == [some_function]
    assert inspect.getsourcelines is counted


def test_another_thread_waits() -> None:
    order: list[str] = []

    def imports() -> None:
        with importing():
            order.append("other")

    other = threading.Thread(target=imports)
    with importing():
        other.start()
        other.join(0.2)
        assert other.is_alive()
        order.append("first")
    other.join(10)
    assert order == ["first", "other"]
    assert inspect.getsourcelines.__module__ == "inspect"
