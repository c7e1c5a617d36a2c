"""What a program is made for: attributes of its module, and objects that are no parts of it."""

from __future__ import annotations

from typing import Any

import torch

from ...abi.module_guards import is_compared
from ...abi.object_guards import Place, is_comparable
from ...abi.paths import follow
from .interfaces import Result
from .rejections import NotCompiledError
from .samples import Samples
from .scope import UNSEEN
from .values import Known, Value, guards_of

__all__ = ["Dependences"]

_IDENTITY = " is"


class Dependences:
    """What a program depends on, which each call compares.

    Args:
        root: the module whose method the program is; None for a function.
        samples: what tensors may look like.
    Attributes:
        read: the attributes of the root that were taken as they are.
        places: objects that are no parts of the root, by paths that begin with `@`.
        compared: those that the program depends on.
    """

    def __init__(self, root: torch.nn.Module | None, samples: Samples) -> None:
        self.root = root
        self.samples = samples
        self.read: set[str] = set()
        self.places: dict[str, Place] = {}
        self.compared: dict[str, Place] = {}
        self._paths = {id(part): path for path, part in root.named_modules()} if root is not None else {}
        self._elsewhere: dict[Any, str] = {}
        self._holders: list[Any] = []  # so that their ids stay theirs

    def path_of(self, value: Known) -> str | None:
        """Return the attribute of the root that an object is, None if it is none."""
        if isinstance(value.object, torch.nn.Module):
            return self._paths.get(id(value.object))
        return value.path

    def place_of(self, holder: Any, step: str | tuple[Any] | None = None, text: str = "") -> str:
        """Return a name for the way to an object that is no part of the root, among the paths.

        Args:
            holder: an object that stays the same.
            step: an attribute of it, or, in a tuple, the key of an element; None for the object itself.
            text: what a message calls it.
        """
        self._holders.append(holder)
        key = id(holder), step
        if key not in self._elsewhere:
            name = getattr(holder, "__qualname__", getattr(holder, "__name__", f"a {type(holder).__name__}"))
            steps = () if step is None else (step,)
            self._elsewhere[key] = path = f"@{len(self.places)}"
            self.places[path] = Place(holder, steps, text or name)
        return self._elsewhere[key]

    def part_of(self, path: str, step: str | tuple[Any]) -> str:
        """Return the path of an attribute or, with the key in a tuple, of an element."""
        if not self.is_elsewhere(path):
            assert isinstance(step, str)
            return f"{path}.{step}".removeprefix(".")
        found = f"{path}.{step}" if isinstance(step, str) else f"{path}[{step[0]!r}]"
        self.places.setdefault(found, self.places[path].part(step))
        return found

    def is_elsewhere(self, path: str) -> bool:
        """Whether a path leads to an object that is no part of the root."""
        return path.startswith("@")

    def guards_of(self, value: Any) -> frozenset[str]:
        """Return the attributes of the root that a value depends on."""
        return guards_of(value)

    def depend(self, value: Known) -> None:
        """Let the program depend on what a value is.

        Raises:
            NotCompiledError: a change of it would not be seen.
        """
        for path in self.guards_of(value):
            if path == UNSEEN:
                raise NotCompiledError("a global object")
            if path.endswith(_IDENTITY):
                self.compared[path] = self.places[path.removesuffix(_IDENTITY)]
            elif self.is_elsewhere(path):
                self._depend_elsewhere(path, self.places[path])
            elif self._is_guarded(path):
                self.read.add(path)
            else:  # a function, of a configuration
                self._depend_elsewhere(path, self._place_in_root(path))

    def depend_on_module(self, path: str) -> None:
        """Let the program depend on which module an attribute of an object is."""
        self._depend_elsewhere(path, self.places[path] if self.is_elsewhere(path) else self._place_in_root(path))

    def depend_on_length(self, path: str) -> None:
        """Let the program depend on how many elements a list of the root's has."""
        place = self._place_in_root(path).part(len)
        self._depend_elsewhere(place.text, place)

    def depend_on_several(self, paths: tuple[str, ...]) -> None:
        """Let the program depend on which of some objects of the root are the same."""

        def same(root: Any) -> list[int]:
            found = [id(follow(root, path)) for path in paths]
            return [found.index(each) for each in found]

        place = Place(self.root, (same,), f"which of {', '.join(paths)} are one object")
        self._depend_elsewhere(place.text, place)

    def _place_in_root(self, path: str) -> Place:
        steps: list[str | tuple[Any]] = []
        found: Any = self.root
        for part in path.split("."):
            is_element = isinstance(found, (list, tuple))
            steps.append((int(part),) if is_element else part)
            found = follow(found, part)
        return Place(self.root, tuple(steps), path)

    def identity_guards(self, value: Known) -> frozenset[str]:
        """Return what a value depends on that tells which object another one is, whatever that holds."""
        guards, path = self.guards_of(value), value.path
        is_container = isinstance(value.object, (dict, list, tuple, set, frozenset))
        if path is None or not self.is_elsewhere(path) or is_container:
            return guards
        return (guards - {path}) | {f"{path}{_IDENTITY}"}

    def class_guards(self, value: Known) -> frozenset[str]:
        """Return what a value depends on that tells of which class an object is, and so whether it is None."""
        path, thing = value.path, value.object
        is_plain = path is None or thing is None or is_comparable(thing) or isinstance(thing, torch.nn.Module)
        if is_plain or path is None:
            return self.identity_guards(value)
        return (self.guards_of(value) - {path}) | {self.part_of(path, "__class__")}

    def is_shared(self, value: Value) -> bool:
        """Whether a value is a container that is no part of the root: a copy of it is another one."""
        is_container = isinstance(value, Known) and isinstance(value.object, (list, dict, set))
        return is_container and any(map(self.is_elsewhere, self.guards_of(value)))

    def is_held(self, result: Result) -> bool:
        """Whether a result is a container that something else holds, of which an expression would make a copy."""
        is_container = isinstance(result.value, Known) and isinstance(result.value.object, (list, dict, set))
        return result.node is None and is_container and bool(self.guards_of(result.value))

    def _depend_elsewhere(self, path: str, place: Place) -> None:
        if not is_comparable(place.current()):
            raise NotCompiledError(f"{place.text}, which cannot be compared")
        self.compared[path] = place

    def depend_on_presence(self, path: str | None) -> None:
        """Let the program depend on whether there is an attribute.

        Raises:
            NotCompiledError: a change would not be seen.
        """
        if path is None:
            raise NotCompiledError("whether an object has an attribute")
        if self.is_elsewhere(path):
            self._depend_elsewhere(path, self.places[path])
        else:
            self.read.add(f"{path}?")

    def tensor_value(self, tensor: torch.Tensor, path: str | None) -> Value:
        """Return what is known of a tensor of the root, and let the program depend on that.

        Args:
            tensor: the tensor.
            path: the attribute that it is.
        Raises:
            NotCompiledError: it is none.
        """
        if path is None:
            raise NotCompiledError("a tensor of another module")
        self.read |= {f"{path}.shape", f"{path}.dtype"}
        return self.samples.value(tensor)

    def _is_guarded(self, path: str) -> bool:
        return self.root is not None and is_compared(self.root, path)
