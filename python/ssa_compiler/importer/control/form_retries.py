"""Importing a call again where a list or dict that it makes is needed in another form.

The alternative is to start with the whole program again (`boundary/program.py`). That is left for what is made outside
of any call: each start takes longer than the one before, as it gets further.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...errors import UnsupportedOpError, UnsupportedProgramError
from ..containers.reserved_capacity import ReservedCapacity
from ..values.diagnostics import OtherForm, Unjoinable
from ..values.plan import Form, form_key, with_forms
from ..values.state import State
from ..values.values import Value

__all__ = ["with_needed_forms"]


def with_needed_forms(state: State, capacity: ReservedCapacity, run: Callable[[], Value]) -> Value:
    """Import a call until the lists and dicts that it makes have the forms that they are needed in.

    Args:
        state: the interpretation; its plan gets the forms.
        capacity: what may be appended to lists.
        run: imports the call.
    Raises:
        OtherForm: a list that is made outside of the call is needed in another form.
    """
    take_back, added, here = state.checkpoint(), dict(capacity.added), form_key(state.place())
    while True:
        before = state.plan.forms
        try:
            with state.emitter.attempt():
                return run()
        except (UnsupportedOpError, UnsupportedProgramError) as rejection:
            plain = rejection.plain() if isinstance(rejection, Unjoinable) else rejection
            found = _made_within(here, plain.forms) if isinstance(plain, OtherForm) else []
            if not found or set(found) <= before:
                raise  # a call in an earlier iteration of a loop that is written out may have made the list
            state.joins &= not isinstance(rejection, Unjoinable)
            state.plan = replace(state.plan, forms=with_forms(state.plan.forms, found))
        take_back()
        capacity.added = dict(added)


def _made_within(place: Sequence[object], forms: Sequence[Form]) -> list[Form]:
    """The forms of what is made within a call."""
    return [form for form in forms if isinstance(form.cell, tuple) and form.cell[: len(place)] == place]
