"""Writes random imperative programs: views of views, writes through them, branches, loops, rebound names.

A program is text, so that a failing one can be read, kept and made smaller. The ingredients are those the compiler
promises; sources of writes are always fresh tensors, because eager refuses a source that overlaps its target.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

__all__ = ["arguments", "load", "write_program"]

Shape = tuple[int, ...]
ROWS, COLUMNS = 4, 3


@dataclass
class _Writer:
    """State of one program: the text so far and the names in scope with their shapes."""

    choice: random.Random
    lines: list[str] = field(default_factory=list)
    names: dict[str, Shape] = field(default_factory=dict)
    integers: list[str] = field(default_factory=lambda: ["n", "k"])
    counter: int = 0
    budget: int = 14
    in_loop: int = 0

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * (depth + 1) + line)

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def name(self, minimum_rank: int = 0) -> str:
        return self.choice.choice([name for name, shape in self.names.items() if len(shape) >= minimum_rank])

    def index(self, size: int) -> str:
        """An index into a dimension: constant, negative, an argument or a loop counter, always in range."""
        kind = self.choice.randrange(4)
        if kind == 0:
            return str(self.choice.randrange(size))
        if kind == 1:
            return str(-1 - self.choice.randrange(size))
        return f"{self.choice.choice(self.integers)} % {size}"

    # --- expressions --------------------------------------------------------------------------------------------------

    def view(self) -> tuple[str, Shape]:
        """A view of a name in scope and its shape."""
        name = self.name(1)
        shape = self.names[name]
        axis = self.choice.randrange(len(shape))
        size = shape[axis]
        before, after = shape[:axis], shape[axis + 1 :]
        options: list[tuple[str, Shape]] = [
            (f"{name}.select({axis}, {self.index(size)})", before + after),
            (f"{name}.unsqueeze({axis})", (*before, 1, *shape[axis:])),
        ]
        if axis == 0:
            options.append((f"{name}[{self.index(size)}]", after))
        if size > 1:
            start = self.choice.randrange(size - 1)
            options += [
                (
                    f"{name}.narrow({axis}, {self.choice.choice(self.integers)} % 2, {size - 1})",
                    (*before, size - 1, *after),
                ),
                (f"{name}[{':, ' * axis}{start}:]", (*before, size - start, *after)),
                (f"{name}[{':, ' * axis}::2]", (*before, (size + 1) // 2, *after)),
                (f"{name}.chunk(2, dim={axis})[1]", (*before, size - (size + 1) // 2, *after)),
            ]
        if len(shape) > 1:
            options += [
                (f"{name}.transpose(0, {len(shape) - 1})", (shape[-1], *shape[1:-1], shape[0])),
                (f"{name}.diagonal(0, 0, 1)", (*shape[2:], min(shape[0], shape[1]))),
            ]
        if size == 1:
            options.append((f"{name}.squeeze({axis})", before + after))
        return self.choice.choice([option for option in options if len(option[1]) <= 3])

    def value(self, shape: Shape) -> str:
        """A fresh tensor that can be broadcast to `shape`."""
        fitting = [
            name
            for name, other in self.names.items()
            if len(other) <= len(shape) and all(a in (1, b) for a, b in zip(other[::-1], shape[::-1], strict=False))
        ]
        number = self.choice.randrange(1, 9)
        if not fitting or self.choice.random() < 0.2:
            return f"torch.full([{', '.join(map(str, shape))}], {number}.0)"
        name = self.choice.choice(fitting)
        return self.choice.choice(
            [f"({name} + {number}.0)", f"({name} * 0.5)", f"torch.tanh({name})", f"{name}.clone()"]
        )

    # --- statements ---------------------------------------------------------------------------------------------------

    def write(self, depth: int) -> None:
        target, shape = (name := self.name(), self.names[name]) if self.choice.random() < 0.5 else self.view()
        number = self.choice.randrange(1, 9)
        value = self.value(shape)
        forms = [
            f"{target}.copy_({value})",
            f"{target}.add_({value})",
            f"{target}.sub_({value})",
            f"{target}.mul_(0.5)",
            f"{target}.neg_()",
            f"{target}.fill_({number}.0)",
            f"{target}.zero_()",
            f"{target}.clamp_(-{number}.0, {number}.0)",
            f"{target}.masked_fill_({target} > {number}.0, -1.0)",
        ]
        if target in self.names:
            forms += [f"{target} += {value}", f"{target} *= -0.5"]
            if shape:
                slot = self.index(shape[0])
                forms += [f"{target}[{slot}] = {self.value(shape[1:])}", f"{target}[{slot}] += {number}.0"]
        self.emit(depth, self.choice.choice(forms))

    def define(self, depth: int) -> None:
        text, shape = self.view()
        same = [name for name, other in self.names.items() if other == shape]
        rebind = same and self.choice.random() < 0.3
        name = self.choice.choice(same) if rebind else self.fresh("v")
        self.emit(depth, f"{name} = {text}")
        self.names[name] = shape

    def make(self, depth: int) -> None:
        shape = self.names[other := self.name()]
        name = self.fresh("t")
        self.emit(depth, f"{name} = {other} + {self.value(shape)}")
        self.names[name] = shape

    def condition(self) -> str:
        if self.choice.random() < 0.3:
            return f"bool(({self.name()}.sum() > {self.choice.randrange(-5, 20)}.0).item())"
        return f"{self.choice.choice(self.integers)} % {self.choice.randrange(2, 4)} == {self.choice.randrange(2)}"

    def branch(self, depth: int) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.block(depth + 1)
        if self.choice.random() < 0.6:
            self.emit(depth, "else:")
            self.block(depth + 1)

    def loop(self, depth: int) -> None:
        counter = self.fresh("i")
        if self.choice.random() < 0.25:
            self.emit(depth, f"{counter} = 0")
            self.emit(depth, f"while {counter} < n and bool(({self.name()}.sum() < 30.0).item()):")
            self.emit(depth + 1, f"{counter} += 1")
        else:
            self.emit(depth, f"for {counter} in range({self.choice.choice(['n', '2', 'k % 3'])}):")
        self.integers.append(counter)
        self.in_loop += 1
        self.block(depth + 1)
        self.in_loop -= 1
        self.integers.remove(counter)

    def block(self, depth: int) -> None:
        """Some statements; names defined in them are not visible afterwards."""
        outer = dict(self.names)
        for _ in range(self.choice.randrange(1, 4)):
            self.statement(depth)
        if self.in_loop and self.choice.random() < 0.15:
            self.emit(depth, f"if {self.condition()}:")
            self.emit(depth + 1, self.choice.choice(["break", "continue"]))
        self.names = outer

    def statement(self, depth: int) -> None:
        self.budget -= 1
        kinds: list[Callable[[int], None]] = [self.write] * 4 + [self.define] * 3 + [self.make]
        if depth < 3 and self.budget > 0:
            kinds += [self.branch] * 2 + [self.loop] * 2
        self.choice.choice(kinds)(depth)


def write_program(seed: int) -> str:
    """Write a program.

    Args:
        seed: which one.
    Returns:
        Python source of `program(x, y, n, k)`: x float32 [4, 3], y float32 [4]; either may be written.
    """
    writer = _Writer(random.Random(seed))
    writer.names = {"x": (ROWS, COLUMNS), "y": (ROWS,)}
    if writer.choice.random() < 0.7:
        writer.emit(0, "x = x.clone()")
    if writer.choice.random() < 0.7:
        writer.emit(0, "y = y.clone()")
    while writer.budget > 0:
        writer.statement(0)
    results = [name for name in writer.names if name not in ("x", "y")][-4:]
    # A result that is a view of an argument is returned as a copy (docs/Architecture.md), so results are all fresh.
    writer.emit(0, "return " + ", ".join(f"{name} + 0.0" for name in ("x", "y", *results)))
    head = '"""A random program."""\n\nimport torch\nfrom torch import Tensor\n\n\n'
    kind = ", ".join(["Tensor"] * (2 + len(results)))
    signature = f"def program(x: Tensor, y: Tensor, n: int, k: int) -> tuple[{kind}]:\n"
    return head + signature + "\n".join(writer.lines) + "\n"


def load(text: str, folder: Path, name: str) -> Any:
    """Write a program to a file, import it and return its function."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def arguments(seed: int) -> list[tuple[Any, ...]]:
    """Return input sets for a program: several trip counts and indices, negative ones too."""
    generator = torch.Generator().manual_seed(seed)
    return [
        (torch.randn(ROWS, COLUMNS, generator=generator) * 3, torch.randn(ROWS, generator=generator) * 3, n, k)
        for n, k in ((2, 1), (0, 0), (1, -3), (5, 4), (3, 2))
    ]
