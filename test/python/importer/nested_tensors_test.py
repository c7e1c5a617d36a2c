"""nn.TransformerEncoder with padding: eager drops the padding, runs the layers on a nested tensor, and pads with
zeros.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

PADDING = {
    "at the end": [[False] * 5, [False, False, False, True, True]],
    "nowhere": [[False] * 5, [False] * 5],
    "everywhere else": [[True, False, False, False, False], [False, True, False, True, False]],
    "most": [[False, True, True, True, True], [False, False, True, True, True]],
}


def encoder(layers: int = 1, *, norm_first: bool = False, norm: bool = False) -> nn.TransformerEncoder:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=norm_first)
    return nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(16) if norm else None).eval()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors", "ignore:enable_nested_tensor is True")
@pytest.mark.parametrize(
    "model", [encoder(), encoder(2, norm=True), encoder(norm_first=True)], ids=["one", "two", "norm first"]
)
@pytest.mark.slow
def test_padding_decides_what_the_encoder_does(model: nn.TransformerEncoder) -> None:
    x = torch.randn(2, 5, 16)
    masks = {name: torch.tensor(rows) for name, rows in PADDING.items()}
    with torch.no_grad():
        kept = {"src_key_padding_mask": masks["at the end"]}
        compiled = ssa_compiler.compile(model, (x,), example_kwargs=kept)
        for name, mask in masks.items():
            expected = model(x, src_key_padding_mask=mask)
            torch.testing.assert_close(
                compiled(x, src_key_padding_mask=mask),
                expected,
                rtol=1e-4,
                atol=1e-5,
                msg=lambda m, n=name: f"{n}: {m}",
            )
    assert compiled.explain().callbacks == ()
    assert len(compiled.specialisations) == 1


def written_after(x: Tensor, mask: Tensor) -> Tensor:
    nested = torch._nested_tensor_from_mask(x, mask, mask_check=False)
    x.add_(1)
    mask.logical_not_()
    return nested.to_padded_tensor(2.0, x.size())


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_a_copy() -> None:
    check(written_after, (torch.randn(2, 5, 16), torch.tensor(PADDING["at the end"]).logical_not()))


def takes_a_part(x: Tensor, mask: Tensor) -> Tensor:
    return torch._nested_tensor_from_mask(x, mask, mask_check=False)[0]


def returns_it(x: Tensor, mask: Tensor) -> Tensor:
    return torch._nested_tensor_from_mask(x, mask, mask_check=False)


def test_other_uses_are_rejected() -> None:
    x, mask = torch.randn(2, 5, 16), torch.ones(2, 5, dtype=torch.bool)
    with pytest.raises(ssa_compiler.UnsupportedOpError, match=r"aten::select.int of a nested tensor; make nn.Trans"):
        import_program(takes_a_part, (x, mask))
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="a result that is a nested value"):
        import_program(returns_it, (x, mask))
