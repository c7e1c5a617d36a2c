"""`import_program`: one TorchScript program to one imported module and its calling convention."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from ...abi.convention import ImportedProgram
from ...abi.default_device import own_tensors_on_cpu
from ...errors import ArgumentTypeError, ScriptError, SsaCompilerError, UnsupportedOpError, UnsupportedProgramError
from ..fake.fake_run import run
from ..isolation.one_import import importing
from ..isolation.process_state import quiet
from ..partial_evaluation.opening import open_for_example
from ..torchscript.models import OpenedModel, has_own_functions
from ..values.argument_sizes import ArgumentSizes, MakeStatic
from ..values.diagnostics import OtherForm, Unjoinable
from ..values.dynamic_list_value import LengthChanges
from ..values.dynamic_shapes import SizeRequest, requested_sizes
from ..values.plan import AnotherPlan, Budget, Form, ImportPlan, with_forms
from ..values.state import State
from .examples import bind_examples
from .single_import import ProgramImport

__all__ = ["import_program"]

_logger = logging.getLogger("ssa_compiler")


def import_program(
    model: Callable[..., Any] | torch.nn.Module | OpenedModel,
    example_inputs: tuple[Any, ...],
    example_kwargs: dict[str, Any] | None = None,
    *,
    index_checks: bool = True,
    dynamic_shapes: Any = None,
    lenient: bool = False,
    kernels: bool = False,
    unrolls: bool = False,
    exact_aliases: tuple[tuple[int, str], ...] | None = None,
    most_nodes: int | None = None,
) -> ImportedProgram:
    """Import a TorchScript program.

    Args:
        model: function, nn.Module (scripted here; training flag as it is), or anything else that `open_model` takes.
        example_inputs: positional arguments. Tensors give dtype, shape and strides; bools, ints and floats stay
            dynamic, unless the program needs one as a constant; str and None are specialised. They are neither run nor
            changed.
        example_kwargs: keyword arguments.
        index_checks: check at run time that the numbers in index tensors are in range, as eager does. Without it a
            number that is out of range is undefined behaviour: anything may be read or written, no error is raised, and
            a GPU need not wait for the host.
        dynamic_shapes: which sizes are not fixed, in torch.export's vocabulary (`dynamic_shapes.py`).
        lenient: make static what `dynamic_shapes` wants open and the program cannot have so for these examples, and
            leave out of it what does not fit them: for a further specialisation.
        kernels: use ops that only native kernels have, such as `ssa_compiler::order`; elsewhere they run in PyTorch.
        unrolls: write out loops of few iterations that build lists, however large they are.
        exact_aliases: as in `ImportOptions`.
        most_nodes: as in `ImportOptions`.
    Returns:
        The module's text and the calling convention.
    Raises:
        ScriptError: TorchScript rejects the model.
        ArgumentTypeError: the examples do not fit the signature.
        UnsupportedOpError: an op cannot be imported.
        UnsupportedProgramError: the program's meaning cannot be kept.
        ProgramError: the program surely raises this for arguments like these, and nothing before; else a call raises
            it.
    """
    args, kwargs = tuple(example_inputs), dict(example_kwargs or {})
    budget = None if most_nodes is None else Budget(most_nodes)

    def imported(opened: OpenedModel) -> ImportedProgram:
        plan = ImportPlan(
            index_checks=index_checks, kernels=kernels, unrolls=unrolls, exact_aliases=exact_aliases, budget=budget
        )
        importer = _Importer(opened, args, kwargs, plan)
        importer.ask(dynamic_shapes, lenient)
        program, rejection = importer.any_attempt()
        if program is None and importer.closable():
            program = importer.with_static_sizes(str(rejection))
        if program is None:
            program = importer.with_opaque_ops()
        if program is None:
            assert rejection is not None
            raise rejection.plain() if isinstance(rejection, Unjoinable) else rejection
        return program

    with quiet(), own_tensors_on_cpu(), importing():
        opened = open_for_example(model, args, kwargs)
        try:
            return imported(opened)
        except ArgumentTypeError as error:
            if opened.reason:
                error.add(opened.reason)
            raise
        except (UnsupportedOpError, UnsupportedProgramError) as rejection:
            for other in _other_ways(opened, rejection):
                try:
                    return replace(imported(other), can_be_kept=False)
                except Exception as error:  # noqa: BLE001 - whatever it is, the program is rejected as it is
                    _logger.debug("partial evaluation does not help: %r", error)
            raise


def _other_ways(opened: OpenedModel, rejection: SsaCompilerError) -> Iterator[OpenedModel]:
    """Open a model partially evaluated, in one way after the other.

    Args:
        opened: the model.
        rejection: why it is rejected as it is; it gets the reason of ours for which it cannot be opened.
    """
    while opened.partially is not None:
        try:
            opened = opened.partially()
        except ScriptError as error:
            if not error.explanation:  # TorchScript's would be of a text that the user has not written
                rejection.add(str(error))
            return
        except Exception as error:  # noqa: BLE001 - as above
            _logger.debug("partial evaluation does not help: %r", error)
            return
        yield opened


class _Importer:
    """Imports a program under plans that earlier imports found necessary.

    Attributes:
        plan: the decisions so far.
        scalars: the paths of the bool, int and float arguments that stayed dynamic in the last import that was
            rejected.
        blamed: those of them that decided what the operands of the rejected op were.
    """

    def __init__(
        self,
        opened: OpenedModel,
        example_inputs: tuple[Any, ...],
        example_kwargs: dict[str, Any],
        plan: ImportPlan,
    ) -> None:
        self.opened = opened
        self.examples = example_inputs, example_kwargs
        self.plan = replace(plan, inlined=has_own_functions(self.opened.scripted))
        self.scalars: list[str] = []
        self.blamed: list[str] = []
        self.requests: dict[tuple[str, int], SizeRequest] = {}
        self.lenient = False
        self._has_opaque_ops = False
        self._forms: dict[Any, frozenset[Form]] = {}  # found necessary, by what else is decided

    def ask(self, dynamic_shapes: Any, lenient: bool) -> None:
        """Take what the user wants of the sizes of arguments; see `import_program`."""
        if dynamic_shapes is None:
            return
        self.lenient = lenient
        scripted, method = self.opened.scripted, self.opened.method
        schema = scripted._c._get_method(method).schema if method else scripted.schema
        declared = list(schema.arguments)[1 if method else 0 :]
        values = bind_examples(self.opened, declared, *self.examples)
        self.requests = requested_sizes(dynamic_shapes, [a.name for a in declared], values, lenient=lenient)
        # PyTorch takes sizes of 0 and 1 for something else (broadcasting, tensors without elements).
        small = [r for r in self.requests.values() if r.value < 2 and (lenient or not r.explicit)]
        self.plan = replace(self.plan, static={r.root: f"the example has {r.value}" for r in small})

    def closable(self) -> list[str]:
        """Return the names of the dynamic sizes that may become static."""
        dynamic = {r.root: None for r in self.requests.values() if self.lenient or not r.explicit}
        return [root for root in dynamic if root not in self.plan.static]

    def any_attempt(self) -> tuple[ImportedProgram | None, SsaCompilerError | None]:
        """Import with numbers and bools as constants if it has to be, and then with branches that are not joined."""
        program, rejection = None, None
        for splits in (False, True):
            self.plan = replace(self.plan, splits=splits)
            program, found = self.attempt({})
            rejection, last = rejection or found, found
            if program is None and self.scalars:
                program, last = self.specialised(str(found))
            if program is not None or not (isinstance(found, Unjoinable) or isinstance(last, Unjoinable)):
                break
        return program, rejection

    def with_opaque_ops(self) -> ImportedProgram | None:
        """Import with what decides by dynamic scalars left to PyTorch, where constants do not help."""
        if not self._has_opaque_ops:
            return None  # it would be imported as it was
        self.plan = replace(self.plan, opaque=True)
        return self.any_attempt()[0]

    def with_static_sizes(self, rejection: str) -> ImportedProgram | None:
        """Import with as few static sizes as the program can do with.

        Args:
            rejection: why it cannot do without any.
        """
        roots, untouched = self.closable(), self.plan.static
        self._make_static({**untouched, **dict.fromkeys(roots, rejection)})
        program, _ = self.any_attempt()
        if program is None:
            self._make_static(untouched)
        for root in roots if program is not None and len(roots) > 1 else []:
            before = self.plan.static
            self._make_static({name: why for name, why in before.items() if name != root})
            found, rejected = self.any_attempt()
            if found is None or root in self.plan.static:
                reason = str(rejected) if rejected is not None else self.plan.static.get(root, rejection)
                self._make_static({**before, root: reason})
            program = found if found is not None else program
        return self.any_attempt()[0] if program is not None else None  # with the reasons that were found

    def _make_static(self, reasons: Mapping[str, str]) -> None:
        self.plan = replace(self.plan, static=reasons)

    def attempt(self, constants: Mapping[str, str]) -> tuple[ImportedProgram | None, SsaCompilerError | None]:
        """Import with these bool, int and float arguments as constants.

        Args:
            constants: why each of them has to be one, by path.
        Returns:
            The program, or why it is rejected.
        """
        fixed = dict.fromkeys(self.opened.fixed, "it chooses parts of the program")
        decided = frozenset(constants), self.plan.splits, self.plan.opaque, frozenset(self.plan.static)
        forms = self._forms.get(decided, frozenset())
        self.plan = replace(self.plan, constants={**fixed, **constants}, forms=forms)
        self.blamed = []
        joins = True  # whether branches could be joined as the program is
        while True:
            self._forms[decided] = begun_with = self.plan.forms
            state = State(self.plan, ArgumentSizes(self.requests, self.plan.static), run)
            try:
                program = ProgramImport(self.opened, state).run(*self.examples)
                self._forms[decided] = state.plan.forms
                return program, None
            except AnotherPlan as another:
                self._take(state)
                joins &= state.joins
                if isinstance(another, MakeStatic) and (error := self._has_to_be_dynamic(another)) is not None:
                    return None, error
                self.plan = another.change(self.plan)
            except (UnsupportedOpError, UnsupportedProgramError) as rejection:
                self._take(state)
                joins &= state.joins
                plain = rejection.plain() if isinstance(rejection, Unjoinable) else rejection
                if isinstance(plain, OtherForm) and not begun_with.issuperset(plain.forms):
                    joins &= not isinstance(rejection, Unjoinable)
                    self.plan = replace(self.plan, forms=with_forms(self.plan.forms, plain.forms))
                    continue
                if isinstance(plain, LengthChanges) and not plain.slices <= self.plan.retries:
                    self.plan = replace(self.plan, retries=self.plan.retries | plain.slices)
                    continue
                if state.kept_loops:
                    self.plan = replace(self.plan, unrolls=True)
                    continue
                self.scalars = list(state.scalars.values())
                self.blamed = state.blamed.get(rejection) or state.blamed.get(plain, [])
                return None, rejection if joins or isinstance(rejection, Unjoinable) else Unjoinable(rejection)

    def _take(self, state: State) -> None:
        """Take what an import found that did not come to its end."""
        self._has_opaque_ops |= state.has_opaque_ops
        self.plan = replace(self.plan, forms=state.plan.forms, retries=state.plan.retries)

    def _has_to_be_dynamic(self, found: MakeStatic) -> UnsupportedProgramError | None:
        """Return the error for a size that the program needs to be static, and the user wants to be dynamic."""
        explicit = {request.root for request in self.requests.values() if request.explicit} & found.roots
        if not explicit or self.lenient:
            return None
        text = (
            f"unsupported: {found.reason}, but the size {', '.join(sorted(explicit))} is dynamic by "
            "dynamic_shapes: make it static or Dim.AUTO, or change the example if only that does not fit"
        )
        return UnsupportedProgramError(text, location=found.location)

    def specialised(self, rejection: str) -> tuple[ImportedProgram | None, SsaCompilerError | None]:
        """Import with as few constants among the bool, int and float arguments as the program can do with.

        Args:
            rejection: why it cannot do without any.
        """
        constants: dict[str, str] = {}
        scalars, program, error = self.scalars, None, None
        while program is None and self.blamed:
            constants.update(dict.fromkeys(self.blamed, rejection if error is None else str(error)))
            program, error = self.attempt(constants)
        if program is None:
            constants = dict.fromkeys(scalars, rejection)
            program, error = self.attempt(constants)
        if program is None or len(constants) == 1:
            return program, error

        def release(paths: list[str]) -> None:
            """Let as many of these arguments be dynamic as can be, of which not all can."""
            for half in (paths[: len(paths) // 2], paths[len(paths) // 2 :]):
                taken = {path: constants.pop(path) for path in half}
                fewer, rejected = self.attempt(constants)
                if fewer is None:
                    constants.update(dict.fromkeys(taken, str(rejected)))
                    if len(half) > 1:
                        release(half)

        release(list(constants))
        return self.attempt(constants)  # with the reasons that were found
