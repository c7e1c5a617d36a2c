"""The state of one program while it is written: its text, the names in scope, and what may share memory with what.

Each name has a *model*, a tensor on the meta device, on which every view is really taken: its shape, its strides and
whether a reshape copies are PyTorch's own answers. Names carry the set of storages that they may live in, so that no
statement reads a source that overlaps its target, which eager PyTorch leaves undefined.

Numbers stay small multiples of powers of two: what grows is clamped, thresholds lie between such numbers. Comparisons
with eager are then sharp, and no branch depends on rounding.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

from .python_scope import Scope
from .registry import INGREDIENTS, Ingredient
from .variables import DTYPES, KINDS, MAX_DEPTH, MAX_RANK, Shape, Sketch, Target, Var

__all__ = ["Writer"]


@dataclass
class Writer:
    """Writes one function.

    Attributes:
        choice: the source of all decisions.
        wanted: names of ingredients that this program should use if they fit.
        features: how often each was used.
        names: tensors in scope.
        integers: int expressions in scope.
        helpers: text of functions that the program calls.
        globals: text of classes, functions and constants of the file, in front of the program.
        python: Python's own values in scope.
        kinds: how often each kind of ingredient is taken where nothing is wanted in particular.
    """

    choice: random.Random
    wanted: list[str] = field(default_factory=list)
    features: Counter[str] = field(default_factory=Counter)
    names: dict[str, Var] = field(default_factory=dict)
    integers: list[str] = field(default_factory=lambda: ["n", "k"])
    helpers: list[str] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    budget: int = 10
    depth: int = 0
    loops: int = 0
    regions: list[int] = field(default_factory=lambda: [0])
    counter: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    root_counter: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    sharp: bool = False  # whether a name was read as a source, without a copy, in the loop being written
    method: bool = False  # whether this is a method, which has `self`
    in_helper: bool = False
    may_return: bool = True
    returns: list[tuple[str, int, dict[str, Var]]] = field(default_factory=list)
    extra: dict[str, str] = field(default_factory=dict)  # further arguments of the program: name -> kind
    argument_roots: set[int] = field(default_factory=set)
    python: Scope = field(default_factory=Scope)
    kinds: dict[str, float] = field(default_factory=lambda: dict(KINDS))

    # --- text ---------------------------------------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        """Add a line at the present depth."""
        self.lines.append("    " * (self.depth + 1) + line)

    def fresh(self, prefix: str) -> str:
        """Return a name that is not in use."""
        return f"{prefix}{next(self.counter)}"

    def mark(self, feature: str) -> None:
        """Count a feature."""
        self.features[feature] += 1

    @contextlib.contextmanager
    def region(self, *, loop: bool = False) -> Iterator[None]:
        """Write the body of a branch or a loop; names made in it are gone afterwards."""
        names, integers, python = dict(self.names), list(self.integers), self.python.save()
        self.regions.append(next(self.counter))
        self.depth += 1
        self.loops += loop
        try:
            yield
        finally:
            self.loops -= loop
            if not self.loops:
                self.sharp = False
            self.depth -= 1
            self.regions.pop()
            # A name bound anew inside is the same object in `names`: what it may alias is kept.
            self.names, self.integers = names, integers
            self.python.restore(python)

    def body(self, low: int = 1, high: int = 3) -> None:
        """Write some statements."""
        for _ in range(self.choice.randint(low, high)):
            self.statement()

    # --- names --------------------------------------------------------------------------------------------------------

    def root(self) -> set[int]:
        """A storage of its own."""
        return {next(self.root_counter)}

    def declare(self, text: str, model: torch.Tensor, roots: set[int], *, is_view: bool = False, **facts: bool) -> Var:
        """Bring a name into scope."""
        var = Var(text, model, set(roots), self.regions[-1], is_view, **facts)
        self.names[text] = var
        return var

    def declare_fresh(self, text: str, shape: Sequence[int], dtype: str) -> Var:
        """Bring the name of a new, contiguous tensor into scope."""
        return self.declare(text, torch.empty(tuple(shape), dtype=DTYPES[dtype], device="meta"), self.root())

    def tensors(self, fits: Callable[[Var], bool] = lambda _: True) -> list[Var]:
        """Names in scope that fit."""
        return [var for var in self.names.values() if fits(var)]

    def pick(self, fits: Callable[[Var], bool] = lambda _: True) -> Var | None:
        """One of `tensors`, or None."""
        found = self.tensors(fits)
        return self.choice.choice(found) if found else None

    def pick_target(self, fits: Callable[[Var], bool] = lambda _: True) -> Target | None:
        """Something to write to: in a region often a view that was made outside of it."""
        writable = self.tensors(lambda var: fits(var) and var.writable)
        outer = [var for var in writable if var.is_view and var.region != self.regions[-1]]
        if len(self.regions) > 1 and outer and self.choice.random() < 0.7:
            return Target((var := self.choice.choice(outer)).text, var)
        if writable and self.choice.random() < 0.6:
            return Target((var := self.choice.choice(writable)).text, var)
        made = self.make_view(lambda var: fits(var) and var.writable)
        if made is not None:
            return Target(made[0], made[1])
        return Target((var := self.choice.choice(writable)).text, var) if writable else None

    # --- numbers ------------------------------------------------------------------------------------------------------

    def integer(self) -> str:
        """A dynamic int."""
        return self.choice.choice(self.integers)

    def index(self, size: int) -> str:
        """An index into a dimension, in range: constant, negative or dynamic."""
        kind = self.choice.randrange(4)
        if kind == 0:
            return str(self.choice.randrange(size))
        if kind == 1:
            return str(-1 - self.choice.randrange(size))
        return self.dynamic_index(size)

    def dynamic_index(self, size: int) -> str:
        """An index that is dynamic, in range."""
        text = f"{self.integer()} % {size}"
        return f"{text} - {size}" if self.choice.random() < 0.2 else text

    def number(self, dtype: str) -> str:
        """A small literal of a dtype."""
        if dtype == "bool":
            return self.choice.choice(["True", "False"])
        value = self.choice.choice([-3, -2, -1, 1, 2, 3, 4])
        return str(value) if dtype == "int64" else self.choice.choice([f"{value}.0", f"{value}.5"])

    def threshold(self, dtype: str) -> str:
        """A number to compare elements with, which no element equals."""
        value = self.choice.randrange(-3, 4)
        return str(value) if dtype in ("int64", "bool") else f"{value}.3"

    def condition(self) -> str:
        """A bool expression of the dynamic ints."""
        return self.choice.choice(
            [
                f"{self.integer()} % {self.choice.randrange(2, 4)} == {self.choice.randrange(2)}",
                f"{self.integer()} > {self.choice.randrange(4)}",
                f"{self.integer()} <= {self.choice.randrange(3)}",
            ]
        )

    def data_condition(self) -> str:
        """A bool expression of a tensor's contents."""
        var = self.pick()
        if var is None:
            return self.condition()
        if var.dtype == "bool":
            return f"bool({var.text}.any())" if self.choice.random() < 0.5 else f"bool({var.text}.all())"
        if var.dtype == "int64":
            return f"int({var.text}.sum()) % 2 == {self.choice.randrange(2)}"
        limit = f"{self.choice.randrange(-6, 9)}.3137"
        return self.choice.choice(
            [
                f"bool({var.text}.sum() > {limit})",
                f"float({var.text}.sum()) < {limit}",
                f"bool(({var.text} > {limit}).any().item())",
            ]
        )

    # --- values -------------------------------------------------------------------------------------------------------

    def full(self, shape: Sequence[int], dtype: str) -> str:
        """A new tensor of constants."""
        return f"torch.full([{', '.join(map(str, shape))}], {self.number(dtype)}, dtype=torch.{dtype})"

    def unit(self, text: str, dtype: str) -> str:
        """A new tensor of the same dtype with bounded elements, made from an expression."""
        if dtype == "bool":
            return self.choice.choice([f"(~{text})", f"{text}.logical_not()", f"{text}.clone()"])
        if dtype == "int64":
            number = self.choice.randrange(1, 6)
            forms = [
                "({0} + {1}).clamp(-9, 9)",
                "(-{0}).clamp(-9, 9)",
                "({0} % 5)",
                "(({0} * 3 + {1}) % 7)",
                "({0}.abs() % 6)",
            ]
            return self.choice.choice(forms).format(text, number)
        number = self.choice.randrange(1, 6)
        forms = [
            "({0} + {1}.0).clamp(-9.0, 9.0)",
            "({0} * 0.5).clamp(-9.0, 9.0)",
            "torch.clamp({0}, -{1}.0, {1}.5)",
            "torch.round({0} * 0.25).clamp(-9.0, 9.0)",
            "(-{0}).clamp(-9.0, 9.0)",
            "torch.relu({0}).clamp(-9.0, 9.0)",
            "torch.where({0} > {1}.3, {1}.0, 0.5 * {0}).clamp(-9.0, 9.0)",
        ]
        return self.choice.choice(forms).format(text, number)

    def value(self, shape: Shape, dtype: str, *, exact: bool = False) -> str:
        """A new tensor with bounded elements, of a dtype, that can be broadcast to a shape.

        Args:
            shape: sizes to fit to.
            dtype: name of its dtype.
            exact: whether its sizes have to be these.
        """

        def fits(var: Var) -> bool:
            if var.dtype != dtype or (exact and var.shape != shape):
                return False
            pairs = zip(var.shape[::-1], shape[::-1])
            return len(var.shape) <= len(shape) and all(a in (1, b) for a, b in pairs)

        var = self.pick(fits)
        if var is None or self.choice.random() < 0.12:
            return self.full(shape, dtype)
        other = self.pick(lambda other: fits(other) and other.shape == var.shape and other is not var)
        if other is not None and dtype != "bool" and self.choice.random() < 0.25:
            bounds = "-9, 9" if dtype == "int64" else "-9.0, 9.0"
            operator = self.choice.choice(["+", "-", "*"])
            return f"({var.text} {operator} {other.text}).clamp({bounds})"
        return self.unit(var.text, dtype)

    def source(self, target: Target) -> str:
        """What a write may read: a number, a new tensor, or a tensor that shares no memory with the target."""
        kind = self.choice.random()
        if kind < 0.2:
            return self.number(target.dtype)
        if kind < 0.25 and target.dtype in ("float32", "float64"):
            return f"float({self.integer()} % 5)"
        if kind < 0.45:
            var = self.pick(
                lambda var: (
                    var.dtype == target.dtype
                    and var.shape == target.shape[len(target.shape) - len(var.shape) :]
                    and not var.roots & target.var.roots
                )
            )
            if var is not None:
                self.sharp = self.sharp or bool(self.loops)
                self.mark("source.other")
                return var.text
        return self.value(target.shape, target.dtype)

    def tensor_source(self, target: Target) -> str:
        """`source`, but always a tensor of the target's shape."""
        return self.value(target.shape, target.dtype, exact=True)

    # --- views --------------------------------------------------------------------------------------------------------

    def take(self, ingredient: Ingredient, base: Var) -> tuple[str, Var] | None:
        """View a tensor by an ingredient.

        Returns:
            The expression, and the view with that text; None if it does not fit.
        """
        sketch: Sketch | None = ingredient.build(self, base)
        if sketch is None:
            return None
        try:
            # The generator's own text, applied to a tensor without contents.
            model = eval((sketch.model or sketch.text).format("s"), {"torch": torch, "s": base.model})
        except (RuntimeError, IndexError, ValueError):
            return None
        if model.dim() > MAX_RANK or not model.numel() or model.numel() > 200:
            return None
        shares = model.untyped_storage()._cdata == base.model.untyped_storage()._cdata
        if not shares and base.uncertain:
            return None
        text = sketch.text.format(base.text)
        roots = base.roots if shares else self.root()
        var = Var(text, model, set(roots), self.regions[-1], shares, base.uncertain and shares, False)
        if len(var.shape) <= 3 or var.writable:
            return text, var
        return None

    def make_view(
        self, fits: Callable[[Var], bool] = lambda _: True, shape: Shape | None = None, dtype: str | None = None
    ) -> tuple[str, Var] | None:
        """A view of something in scope, by an ingredient taken at random; with a given shape and dtype if asked for."""
        ingredients = [each for each in INGREDIENTS.values() if each.kind == "view"]
        weights = [each.weight for each in ingredients]
        for _ in range(40 if shape is not None else 12):
            base = self.pick()
            if base is None:
                return None
            ingredient = self.choice.choices(ingredients, weights)[0]
            taken = self.take(ingredient, base)
            if taken is None or not fits(taken[1]):
                continue
            if shape is not None and (taken[1].shape != shape or taken[1].dtype != dtype):
                continue
            self.mark(ingredient.name)
            return taken
        return None

    def define(self, taken: tuple[str, Var], prefix: str = "v") -> Var:
        """Give a view a name."""
        text, view = taken
        name = self.fresh(prefix)
        self.emit(f"{name} = {text}")
        return self.declare(name, view.model, view.roots, is_view=view.is_view, uncertain=view.uncertain)

    # --- statements ---------------------------------------------------------------------------------------------------

    def apply(self, ingredient: Ingredient) -> bool:
        """Use an ingredient once.

        Returns:
            Whether it fitted and was written.
        """
        if ingredient.nested and self.depth >= (1 if self.in_helper else MAX_DEPTH):
            return False
        if ingredient.kind in ("statement", "python", "untyped"):
            done = bool(ingredient.build(self))
        else:
            done = any(self._apply_once(ingredient) for _ in range(6))
        if done:
            self.mark(ingredient.name)
        return done

    def _apply_once(self, ingredient: Ingredient) -> bool:
        if ingredient.kind == "view":
            base = self.pick()
            taken = self.take(ingredient, base) if base is not None else None
            if taken is None:
                return False
            self.define(taken)
            return True
        before = Counter(self.features)
        target = self.pick_target()
        text = ingredient.build(self, target) if target is not None else None
        if target is None or text is None:
            self.features = before
            return False
        self.note_write(target.var)
        for line in text.split("\n"):
            self.emit(line)
        return True

    def note_write(self, var: Var) -> None:
        """Count what is special about a write to a tensor."""
        if var.dtype != "float32":
            self.mark(f"dtype.{var.dtype}")
        if var.roots & self.argument_roots:
            self.mark("argument.write")
            if len(self.regions) > 1:
                self.mark("argument.write_branch")
            if var.is_view:
                self.mark("argument.write_view")
        if len(self.regions) > 1:
            self.mark("write.in_region")
            named = self.names.get(var.text)
            if named is not None and named.is_view and named.region not in self.regions[-1:]:
                self.mark("write.outer_view")

    def statement(self) -> None:
        """Write one statement: one that is wanted, or one of any kind."""
        self.budget -= 1
        if self.wanted and self.choice.random() < 0.6:
            for name in self.choice.sample(self.wanted, min(3, len(self.wanted))):
                if name not in self.wanted:  # used inside of one that was tried before
                    continue
                self.wanted.remove(name)
                if self.apply(INGREDIENTS[name]):
                    return
                self.wanted.append(name)
        for _ in range(8):
            kind = self.choice.choices(list(self.kinds), list(self.kinds.values()))[0]
            ingredients = [
                each
                for each in INGREDIENTS.values()
                if each.kind == kind and not (each.nested and (self.budget <= 0 or self.depth >= MAX_DEPTH))
            ]
            ingredient = self.choice.choices(ingredients, [each.weight for each in ingredients])[0]
            if self.apply(ingredient):
                return
        self.emit("pass")
