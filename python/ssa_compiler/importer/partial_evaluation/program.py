"""Partial evaluation of a program: a copy of its functions that TorchScript takes, for the types of an example.

Research code is written for Python: modules are chosen by index and name, lists begin empty, functions have no
annotations, sizes are unpacked with stars, functions take functions. What such code does with modules, strings,
configurations and functions is known before it runs. It is computed then, as in a partial evaluator (Jones, Gomard
and Sestoft, "Partial Evaluation and Automatic Program Generation", 1993), and what is left is typed by the example:
loops over parts of a model are written out, functions are copied for each set of types, and what TorchScript has
another word for is said in its words. Loops over numbers and tensors stay loops, and control flow that depends on
values stays what it is.

This is done only where TorchScript rejects a program as it is.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import enum
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.jit._recursive as recursive
import torch.jit.frontend as frontend
from torch import _jit_internal

from ..ir.tuple_keys import encoded_keys
from ..isolation.patching import replaced
from . import global_tensors, records, sequences
from .assigned_attributes import Assigned, assigned_attributes, assigned_by
from .callees import forward_of, is_of_torch
from .classes import Classes, ignored_attributes, is_plain_class
from .definitions import Specialised
from .dependences import Dependences
from .functions import Functions
from .passed_dicts import with_parts
from .rejections import NotCompiledError
from .samples import Samples
from .scope import Scope, placed, type_expression
from .states import States
from .surroundings import adopt
from .unification import unified
from .values import (
    ATTRIBUTE,
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    TupleValue,
    Unknown,
    Value,
    annotation,
    is_none,
    joined,
    key_type,
    widened,
)

__all__ = ["Program"]

_ALWAYS = (str, type(None))


class Program(Dependences):
    """A program whose functions are evaluated.

    Attributes:
        functions: the copies of functions.
        classes: those whose objects the program makes.
        elements: what the lists and dicts that the program makes hold, by place.
        passed: the dataclasses of which objects are among the arguments.
        methods: the copies that are methods, by module and name.
        names: what names of the copies mean: other copies, constants.
        factories: what makes the defaults of dicts, by the places that make these.
        sources: the Python functions that copies are of, by the names of the copies, behind the paths of their modules.
        held: the tensors of objects that are no modules, by the module that holds the object, and name.
        states: what the program assigns of these.
        squeezes: whether sizes decide when the program runs which dimensions `squeeze` leaves out.
        lists_as_objects: whether lists of the caller's with strings in them, and empty ones, are `sequences`.
        has_squeezes: whether there is a `squeeze` of which they may.
    """

    def __init__(
        self,
        root: torch.nn.Module | None,
        elements: dict[Any, Value],
        samples: Samples,
        *,
        squeezes: bool = False,
        lists_as_objects: bool = False,
    ) -> None:
        super().__init__(root, samples)
        self.squeezes = squeezes
        self.lists_as_objects = lists_as_objects
        self.has_squeezes = False
        self.elements = elements
        self.passed: frozenset[type] = frozenset()
        self.classes = Classes(elements, self.samples.of, self.widened)
        self.functions = Functions(self)
        self.methods: dict[int, dict[str, Any]] = {}
        self.names: dict[str, Any] = {"torch": torch}  # which literals name; the user may call it otherwise
        self.sources: dict[str, Any] = {}
        self.factories: dict[Any, Any] = {}
        self.held: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._assigned = assigned_attributes(root) if root is not None else Assigned()
        self._constants: dict[int, str] = {}
        self.states = States(self)

    # What is known. -----------------------------------------------------------------------------------------------

    def is_assigned(self, name: str, held: Any, kind: type | None = None) -> bool:
        """Whether the program may assign an attribute of this name, or change what it holds.

        Args:
            name: the attribute.
            held: what it is.
            kind: the class of the object that has it, if that is no module.
        """
        is_object = is_plain_class(type(held))
        seen = self._assigned.has(name, is_object=is_object) or ("assigned", name) in self.elements
        return seen or (kind is not None and assigned_by(kind).has(name, is_object=is_object))

    def assign(self, name: str, value: Value | None = None) -> None:
        """Note that the program assigns an attribute of this name.

        Args:
            name: the attribute.
            value: what is assigned; None for a part of it.
        """
        self.elements["assigned", name] = UNKNOWN
        if value is not None:
            place = "attribute", name
            general = value if is_none(value) else self.widened(value)
            self.elements[place] = unified(self, self.elements.get(place), general)

    def change(self, value: Value) -> bool:
        """Note that the program changes what a list or dict holds; whether it is an attribute of the model."""
        if not isinstance(value, Known) or value.path is None or not isinstance(value.object, (list, dict)):
            return False
        self.assign(value.path.rpartition(".")[2])
        return True

    def widened(self, value: Value) -> Value:
        """Return the type of a value."""
        return widened(value, self.samples.of)

    # What is learned. -----------------------------------------------------------------------------------------------

    def learn(self, place: Any, value: Value) -> None:
        """Note what a list, dict or variable made at a place holds."""
        self.elements[place] = unified(self, self.elements.get(place), self.widened(value))

    def resize(self, scope: Scope, owner: Any, container: ListValue) -> None:
        """Note that the length of a list, which an expression reads, changes."""
        self._change_attributes(container)
        for place in container.places or ["any"]:
            self.elements["resized", place] = UNKNOWN
        if isinstance(owner, ast.Name) and owner.id in scope.variables:
            scope.learn(owner.id, ListValue(container.element, container.places, container.is_tuple))

    def _change_attributes(self, container: ListValue | DictValue) -> None:
        """Note that the attributes of the model are changed that a container may be."""
        for place in container.places:
            if isinstance(place, tuple) and place[0] == ATTRIBUTE:
                self.assign(place[1])

    def forget_lengths(self) -> None:
        """Note that lists may be changed by a function that stays Python."""
        self.elements["resized", "any"] = UNKNOWN

    def length(self, places: frozenset[Any], length: int | None) -> int | None:
        """Return the length of lists made at places, None if it changes."""
        resized = any(("resized", place) in self.elements for place in (*places, "any"))
        return None if resized else length

    def put(self, scope: Scope, owner: Any, container: ListValue | DictValue, key: Value | None, value: Any) -> None:
        """Note that a value is put into a container, which an expression reads."""
        if value is None:
            return
        general = self.widened(value)
        self._change_attributes(container)
        for place in container.places:
            self.learn(place, general)
            if key is not None:
                self.learn((place, "key"), key_type(self.widened(key)))
        element = unified(self, container.element, general)
        made: Value
        if isinstance(container, ListValue):
            made = ListValue(element, container.places, container.is_tuple, container.length)
        else:
            own = key_type(self.widened(key)) if key else key
            keys = joined(container.key, own, self.samples.of)
            if isinstance(keys, Unknown) and any(isinstance(each, TupleValue) for each in (container.key, own)):
                raise NotCompiledError("a dict with keys of which some are tuples")
            made = DictValue(keys, element, container.places)
        if isinstance(owner, ast.Name) and owner.id in scope.variables:
            scope.learn(owner.id, made)

    def ask(self, container: DictValue, key: Value) -> None:
        """Note that an expression looks for a key in a dict, whose keys are of that type if it gets none."""
        for place in container.places if container.key is None else ():
            self.learn((place, "key"), key_type(self.widened(key)))

    def argument(self, name: str, example: Any, kinds: tuple[type, ...]) -> Value:
        """Return what is known of an argument of the program.

        Args:
            name: the parameter.
            example: what is passed.
            kinds: types of which the program is made for the value that is passed.
        """
        if type(example) in kinds or isinstance(example, enum.Enum):
            return Known(example)
        value = self._held_by(self.samples.value(example), [example])
        if isinstance(value, ListValue):
            return dataclasses.replace(value, length=self.length(value.places, len(example)))
        return value

    def _held_by(self, value: Value, examples: Sequence[Any]) -> Value:
        """Return what is known of containers that are passed, by now; one may be passed twice."""
        if isinstance(value, TupleValue):
            columns = zip(*examples)
            return TupleValue(tuple(self._held_by(each, column) for each, column in zip(value.elements, columns)))
        if not isinstance(value, (ListValue, DictValue)) or (isinstance(value, ListValue) and value.is_tuple):
            return value
        places = frozenset(("argument", id(each)) for each in examples)
        parts = [part for each in examples for part in (each.values() if isinstance(each, dict) else each)]
        element = None if value.element is None else self._held_by(value.element, parts)
        for place in places:
            found = self.elements.get(place)
            element = element if found is None else joined(element, found, self.samples.of)
        if isinstance(value, DictValue) and len({tuple(each) for each in examples}) == 1:
            if records.is_wanted(self, examples[0], element, places):
                return records.passed(self, {key: self._part([e[key] for e in examples]) for key in examples[0]})
        if (as_object := self._as_object(value, element, examples)) is not None:
            return as_object
        return with_parts(self, dataclasses.replace(value, element=element, places=places), examples, self._part)

    def _as_object(self, value: Value, element: Value | None, examples: Sequence[Any]) -> Value | None:
        """What is known of a list of the caller's whose elements are of several types; None if it is none."""
        is_wanted = self.lists_as_objects and sequences.has_texts(examples)
        if not isinstance(value, ListValue) or not (is_wanted or (element is not None and annotation(element) is None)):
            return None
        return self._sequence(examples, list)

    def _sequence(self, examples: Sequence[Any], of: type) -> Value | None:
        if any(type(each) is not of for each in examples) or len(set(map(len, examples))) != 1:
            return None
        parts: list[Value] = []
        for column in zip(*examples):
            found = self._sequence(column, tuple) if type(column[0]) is tuple else None
            parts.append(self._part(column) if found is None else found)
        return sequences.passed(self, parts, of)

    def _part(self, examples: Sequence[Any]) -> Value:
        """Return what is known of an element of dicts that are passed: strings are those of the example."""
        found: Value | None = None
        for example in examples:
            value = Known(example) if type(example) in _ALWAYS else self.samples.value(example)
            found = value if found is None else joined(found, value, self.samples.of)
        return self._held_by(found or UNKNOWN, examples)

    # Expressions. ---------------------------------------------------------------------------------------------------

    def module_expression(self, scope: Scope, module: torch.nn.Module, where: ast.AST) -> Any:
        """Return an expression for a module in a method of another.

        Raises:
            NotCompiledError: it is no part of that one.
        """
        if scope.owner is None:
            raise NotCompiledError("a module, in a function that belongs to none")
        path = next((path for path, part in scope.owner.named_modules() if part is module), None)
        if path is None:
            adopt(self, Known(module))
            raise NotCompiledError("a module that is no part of the one whose method it is used in")
        made: Any = ast.Name(scope.self_name, ast.Load())
        held: Any = scope.owner
        for part in path.split(".") if path else ():
            if isinstance(held, (torch.nn.ModuleList, torch.nn.Sequential)) and part.isdigit():
                made = ast.Subscript(made, ast.Constant(list(held._modules).index(part)), ast.Load())
            elif isinstance(held, torch.nn.ModuleDict) or not part.isidentifier():
                made = ast.Subscript(made, ast.Constant(part), ast.Load())
            else:
                made = ast.Attribute(made, part, ast.Load())
            held = held._modules[part]
        return placed(made, where)

    def tensor_expression(self, scope: Scope, tensor: torch.Tensor, where: ast.AST, path: str | None = None) -> Any:
        """Return an expression for a tensor in the methods of a module: a parameter or buffer, or of a global name.

        Raises:
            NotCompiledError: it is none.
        """
        for part in scope.owner.modules() if scope.owner is not None else ():
            for name, found in (*part._parameters.items(), *part._buffers.items()):
                if found is tensor:
                    module = self.module_expression(scope, part, where)
                    self.tensor_value(tensor, f"{self._paths.get(id(part))}.{name}".removeprefix("."))
                    return placed(ast.Attribute(module, name, ast.Load()), where)
        return placed(global_tensors.expression(self, scope, tensor, path), where)

    def hold(self, owner: Any, name: str, value: Any) -> None:
        """Let a module have an attribute while TorchScript looks at it."""
        self.held.setdefault(id(owner), (owner, {}))[1][name] = encoded_keys(value)

    def held_expression(self, scope: Scope, path: str, value: Any, where: ast.AST) -> Any:
        """Return an expression for tensors that an object which is no module holds.

        To TorchScript they are an attribute, called as the way to it, of the module that holds the object.

        Args:
            scope: where it is read.
            path: the attribute of the root.
            value: a tensor or a list of some.
            where: the place.
        Raises:
            NotCompiledError: the module is not the one whose method reads it.
        """
        own = self._paths.get(id(scope.owner))
        if own is None or not path.startswith(f"{own}." if own else ""):
            raise NotCompiledError("a tensor of an object that another module holds")
        name = path.removeprefix(f"{own}.") if own else path
        self.hold(scope.owner, name, value)
        return placed(ast.Attribute(ast.Name(scope.self_name, ast.Load()), name, ast.Load()), where)

    def annotated(self, node: Any, value: Value) -> Any:
        """Return an expression with a type.

        Raises:
            NotCompiledError: the type is not known.
        """
        text = annotation(value)
        if text is None:
            raise NotCompiledError("a value that TorchScript has no type for")
        return self.annotated_as(node, text)

    def annotated_as(self, node: Any, text: str) -> Any:
        """Return an expression with a type, as TorchScript writes it."""
        kind = type_expression(text, node)
        function = ast.Name(self.constant_name(torch.jit.annotate), ast.Load())
        made = ast.Call(function, [kind, node], [])
        for part in (*ast.walk(function), made):
            ast.copy_location(part, node)
        made.is_annotated = True  # type: ignore[attr-defined]
        return made

    def unwrapped(self, node: Any) -> Any:
        """Return an expression for what an optional value holds, which raises where it is None."""
        name = self.constant_name(getattr(torch.jit, "_unwrap_optional"))  # noqa: B009 - it is not exported
        function = ast.Name(name, ast.Load())
        return ast.copy_location(ast.Call(ast.copy_location(function, node), [node], []), node)

    def constant_name(self, thing: Any) -> str:
        """Return a name for an object."""
        if id(thing) not in self._constants:
            self._constants[id(thing)] = name = f"_ssa_compiler_constant_{len(self._constants)}"
            self.names[name] = thing
        return self._constants[id(thing)]

    # Copies of functions. -------------------------------------------------------------------------------------------

    def unused_name(self, name: str) -> str:
        """Return a name for a copy of a function: no name of the user's, and no variable of a function."""
        self._count = getattr(self, "_count", 0) + 1
        return f"_ssa_compiler_copy_{self._count}_{name.removeprefix('_ssa_compiler_')}"

    def is_dead(self, module: torch.nn.Module) -> bool:
        """Whether the program does not call a module of the user's."""
        return not is_of_torch(forward_of(module))

    def has_own_parts(self, module: torch.nn.Module) -> bool:
        """Whether a module has parts whose forward is the user's."""
        return any(not is_of_torch(forward_of(part)) for part in module.modules())

    def add(self, owner: torch.nn.Module | None, made: Specialised) -> None:
        """Add a copy of a function to the program."""
        if owner is None:
            self.sources[made.name] = made.source
            self.names[made.name] = made.function
        else:
            for path in self._all_paths.get(id(owner), ()):
                self.sources[f"{path}.{made.name}" if path else made.name] = made.source
            self.methods.setdefault(id(owner), {})[made.name] = made.function

    @functools.cached_property
    def _all_paths(self) -> dict[int, list[str]]:
        """The paths of modules, of which some have several."""
        found: dict[int, list[str]] = {}
        for path, part in self.root.named_modules(remove_duplicate=False) if self.root is not None else ():
            found.setdefault(id(part), []).append(path)
        return found

    def keep_called(self, root: Specialised) -> None:
        """Forget the copies of functions that the program does not call: they were made on the way."""
        called = set[Any]()
        pending = [root.function]
        while pending:
            for node in ast.walk(getattr(pending.pop(), "_ssa_compiler_parsed").ast):  # noqa: B009 - an attribute of a function
                key = getattr(node, "copy_of", None)
                if key is not None and key not in called:
                    called.add(key)
                    owner, name = key
                    pending.append(self.names[name] if owner is None else self.methods[owner][name])
        for owner, methods in self.methods.items():
            for name in [
                each for each in methods if (owner, each) not in called and methods[each] is not root.function
            ]:
                del methods[name]

    @contextmanager
    def parsed(self) -> Iterator[None]:
        """Let TorchScript find the copies."""
        parse: Any = getattr(frontend, "parse_def")  # noqa: B009 - a name that the module imports
        create: Any = _jit_internal.createResolutionCallbackFromClosure

        def parsing(function: Any) -> Any:
            found = getattr(function, "_ssa_compiler_parsed", None)
            return parse(function) if found is None else found._replace(ast=copy.deepcopy(found.ast))

        def resolving(function: Any) -> Callable[[str], Any]:
            resolve = create(function)
            return lambda name: self.classes.resolved(name) or resolve(name) or self.names.get(name)

        with (
            replaced(recursive, "get_property_stubs", lambda module: []),  # they are methods
            replaced(recursive, "get_annotations", self.states.annotations(recursive.get_annotations)),
            replaced(frontend, "parse_def", parsing),
            replaced(_jit_internal, "createResolutionCallbackFromClosure", resolving),
        ):
            added = [*self.held.values(), *ignored_attributes(self.root, self.held)]
            before = [(vars(owner), {k: vars(owner)[k] for k in new if k in vars(owner)}, new) for owner, new in added]
            for owner, values in added:
                vars(owner).update(values)
            try:
                yield
            finally:
                for space, kept, values in reversed(before):
                    for name in values.keys() - kept.keys():
                        del space[name]
                    space.update(kept)
