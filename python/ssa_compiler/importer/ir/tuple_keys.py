"""Tuples that are keys of dicts: TorchScript gets strings for them, which the importer takes for the tuples."""

from __future__ import annotations

import ast
from typing import Any

import torch

__all__ = ["TUPLE_KEY", "decoded", "decoded_keys", "encoded", "encoded_keys", "has_tuple_keys"]

TUPLE_KEY = "\0ssa_compiler.tuple_key:"
"""Begins the strings that stand for tuples; what follows is how Python would write these."""


def encoded(key: Any) -> Any:
    """Return what stands for a key in TorchScript; others than tuples are returned as they are."""
    return f"{TUPLE_KEY}{key!r}" if isinstance(key, tuple) else key


def decoded(key: Any) -> Any:
    """Return the key that something stands for."""
    if not isinstance(key, str) or not key.startswith(TUPLE_KEY):
        return key
    return _value(ast.parse(key.removeprefix(TUPLE_KEY), mode="eval").body)


def has_tuple_keys(value: Any) -> bool:
    """Whether a value is a dict with a tuple among its keys."""
    return isinstance(value, dict) and any(isinstance(key, tuple) for key in value)


def encoded_keys(value: Any) -> Any:
    """Return a dict with what stands for its keys; others than dicts with tuples as keys are returned as they are."""
    return {encoded(key): part for key, part in value.items()} if has_tuple_keys(value) else value


def decoded_keys(value: Any) -> Any:
    """Return a dict with the keys that its keys stand for; other values are returned as they are."""
    return {decoded(key): part for key, part in value.items()} if isinstance(value, dict) else value


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.Call):  # `device(type='cpu')` as Python writes it, `device('cpu')` as it is made
        arguments = [_value(part) for part in node.args]
        return torch.device(*arguments, **{str(part.arg): _value(part.value) for part in node.keywords})
    if isinstance(node, ast.Name):  # `inf`
        return float(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    return ast.literal_eval(node)
