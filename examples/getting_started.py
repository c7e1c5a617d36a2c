"""The smallest program that shows what ssa-compiler is for: a loop that assigns the rows of a tensor in place."""

from __future__ import annotations

import torch


def add_one_to_rows(a: torch.Tensor, n: int) -> torch.Tensor:
    """Add one to the first `n` rows of a copy.

    Args:
        a: float32 [rows, columns]; not changed.
        n: number of rows, at most `a.shape[0]`.
    Returns:
        float32 [rows, columns], a new tensor.
    """
    b = a.clone()
    for i in range(n):
        b[i] = b[i] + 1
    return b


def main() -> None:
    """Compile the function once and call it with several trip counts."""
    import ssa_compiler

    a = torch.zeros(4, 3)
    compiled = ssa_compiler.compile(add_one_to_rows, (a, 2))
    for n in (0, 1, 2, 4):
        assert torch.equal(compiled(a, n), add_one_to_rows(a, n))
    print(compiled.mlir("tensorssa"))


if __name__ == "__main__":
    main()
