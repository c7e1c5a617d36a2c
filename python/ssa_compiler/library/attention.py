"""The fused ops that `nn.MultiheadAttention` and `nn.TransformerEncoderLayer` call where no gradients are recorded.

PyTorch's kernel returns an undefined tensor for weights that nobody wants, which is None to Python, and has no kernel
for FakeTensors that says so. Decomposed, all of it is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Optional, Tuple  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006, UP045 - TorchScript reads these annotations


def _attends_to_itself(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["query"] is arguments["key"] and arguments["key"] is arguments["value"])


def _softmax(scores: Tensor, mask: Optional[Tensor], mask_type: Optional[int]) -> Tensor:
    """The softmax of scores (batch, heads, queries, keys) over the keys that a mask does not hide."""
    if mask is None:
        return scores.softmax(-1)
    hidden = mask.to(torch.bool)
    if mask_type is not None and mask_type == 1:
        hidden = hidden[:, None, None, :]
    elif mask_type is not None and mask_type == 0:
        hidden = hidden[None, None, :, :]
    exponents = scores.masked_fill(hidden, float("-inf"))
    return exponents.softmax(-1)


def _attention(
    packed: Tensor,
    heads: int,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Optional[Tensor],
    mask_type: Optional[int],
) -> Tuple[Tensor, Tensor]:
    """What heads see, given queries, keys and values side by side (batch, positions, 3 * width), and their weights."""
    batch, length, width = packed.size(0), packed.size(1), packed.size(2) // 3
    parts = packed.reshape([batch, length, 3, heads, width // heads]).permute(2, 0, 3, 1, 4)
    queries = parts[0] * (1.0 / float(max(width // heads, 1)) ** 0.5)
    weights = _softmax(queries.matmul(parts[1].transpose(-2, -1)), mask, mask_type)
    seen = weights.matmul(parts[2]).transpose(1, 2).reshape([batch, length, width])
    return torch.nn.functional.linear(seen, proj_weight, proj_bias), weights


@implements("aten::_native_multi_head_attention", where=_attends_to_itself)
def multi_head_attention(
    query: Tensor,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Optional[Tensor],
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: Optional[int],
) -> Tuple[Tensor, Optional[Tensor]]:
    """The attention of a sequence (batch, positions, width) to itself, and its weights if they are wanted.

    Of a sequence without elements there are none, as in eager.
    """
    packed = torch.nn.functional.linear(query, qkv_weight, qkv_bias)
    seen, weights = _attention(packed, num_head, proj_weight, proj_bias, mask, mask_type)
    if not need_weights or query.numel() == 0:
        return seen, None
    if average_attn_weights:
        weights = weights.mean(1)
    return seen, weights


@implements("aten::_transformer_encoder_layer_fwd")
def transformer_encoder_layer(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Optional[Tensor],
    mask_type: Optional[int],
) -> Tensor:
    """A layer of an encoder: attention and two linear layers, each beside its input, normalised before or after."""
    shape = [embed_dim]
    x = src
    if norm_first:
        x = torch.nn.functional.layer_norm(x, shape, norm_weight_1, norm_bias_1, eps)
    packed = torch.nn.functional.linear(x, qkv_weight, qkv_bias)
    x = src + _attention(packed, num_heads, proj_weight, proj_bias, mask, mask_type)[0]
    if norm_first:
        y = torch.nn.functional.layer_norm(x, shape, norm_weight_2, norm_bias_2, eps)
    else:
        x = torch.nn.functional.layer_norm(x, shape, norm_weight_1, norm_bias_1, eps)
        y = x
    y = torch.nn.functional.linear(y, ffn_weight_1, ffn_bias_1)
    y = y.relu() if not use_gelu else torch.nn.functional.gelu(y)
    x = x + torch.nn.functional.linear(y, ffn_weight_2, ffn_bias_2)
    if not norm_first:
        x = torch.nn.functional.layer_norm(x, shape, norm_weight_2, norm_bias_2, eps)
    return x


def _drops_nothing(arguments: Mapping[str, Any]) -> bool:
    query = arguments["query"]
    return bool(arguments["dropout_p"] == 0.0 and query.dtype.is_floating_point and query.dim() >= 2)


def _for_each_query(tensor: Tensor, heads: int) -> Tensor:
    """Keys or values (..., heads, length, size), each repeated for a group of the heads of the queries."""
    group = heads // tensor.size(-3)
    shape = list(tensor.shape)
    repeated = tensor.unsqueeze(-3).expand(shape[:-2] + [group] + shape[-2:])  # noqa: RUF005
    return repeated.reshape(shape[:-3] + [heads] + shape[-2:])  # noqa: RUF005


def _chooses(arguments: Mapping[str, Any]) -> bool:
    """Whether eager has a kernel for causal attention that chooses scores: for which ranks depends on PyTorch."""
    causal = arguments["is_causal"] and _drops_nothing(arguments)
    return bool(causal and _hides_nan(arguments["query"].dim(), torch._C._get_flash_sdp_enabled()))


@cache
def _hides_nan(rank: int, _flash: bool) -> bool:
    """Whether eager's causal attention hides NaN in the key of a later position, for tensors of a rank."""
    query = torch.ones([*[1] * (rank - 2), 2, 4])
    key = query.clone()
    key[..., 1, :] = math.nan
    with torch.no_grad():
        seen = torch.nn.functional.scaled_dot_product_attention(query, key, query, is_causal=True)
    return not bool(seen[..., 0, :].isnan().any())


@implements("aten::scaled_dot_product_attention", where=_chooses)
def causal_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor],
    scale: Optional[float],
    enable_gqa: bool,
) -> Tensor:
    """Attention (..., queries, size) to no later positions; they may hold anything if values are as large as keys."""
    scores, values = _scores(query, key, value, scale, enable_gqa)
    if query.size(-1) == value.size(-1):
        scores = torch.where(_earlier(query, key), scores, -math.inf)
    else:
        scores = scores + torch.where(_earlier(query, key), 0.0, -math.inf)
    return _weighted(_masked(scores, attn_mask), values).to(query.dtype)


@implements("aten::scaled_dot_product_attention", where=_drops_nothing)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor],
    is_causal: bool,
    scale: Optional[float],
    enable_gqa: bool,
) -> Tensor:
    """Attention (..., queries, size); where a mask hides every key the result is 0, as in eager.

    Eager adds masks, so that they do not hide NaN and infinity; only its fused kernel for causal attention does.
    """
    scores, values = _scores(query, key, value, scale, enable_gqa)
    if is_causal:
        scores = scores + torch.where(_earlier(query, key), 0.0, -math.inf)
    return _weighted(_masked(scores, attn_mask), values).to(query.dtype)


def _scores(
    query: Tensor, key: Tensor, value: Tensor, scale: Optional[float], enable_gqa: bool
) -> Tuple[Tensor, Tensor]:
    """The scores (..., queries, keys) and the values, for the heads of the queries."""
    factor = 1.0 / math.sqrt(max(query.size(-1), 1)) if scale is None else scale
    keys, values = key, value
    if enable_gqa:
        keys, values = _for_each_query(key, query.size(-3)), _for_each_query(value, query.size(-3))
    scores = torch.matmul(query.to(torch.float32) * factor, keys.to(torch.float32).transpose(-2, -1))
    if query.dtype == torch.float64:
        scores = torch.matmul(query * factor, keys.transpose(-2, -1))
    return scores, values


def _earlier(query: Tensor, key: Tensor) -> Tensor:
    """Bools (queries, keys): which keys are at no later position."""
    return torch.ones([query.size(-2), key.size(-2)], dtype=torch.bool, device=query.device).tril()


def _masked(scores: Tensor, mask: Optional[Tensor]) -> Tensor:
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return scores + torch.where(mask, 0.0, -math.inf)
    return scores + mask.to(scores.dtype)


def _weighted(scores: Tensor, values: Tensor) -> Tensor:
    """The values weighted by the softmax of the scores, 0 where all scores are -inf."""
    if scores.size(-1) == 0:
        return torch.matmul(scores, values.to(scores.dtype))
    highest = scores.amax(-1, keepdim=True)
    weights = torch.exp(scores - torch.where(highest == -math.inf, 0.0, highest))
    total = weights.sum(-1, keepdim=True)
    weights = weights / torch.where(total == 0.0, 1.0, total)
    return torch.matmul(weights, values.to(weights.dtype))


@implements("aten::_nested_tensor_from_mask_left_aligned")
def left_aligned(mask: Tensor) -> bool:
    """Whether no position follows one that there is not, in any sequence."""
    return not bool(torch.logical_and(mask[:, 1:], torch.logical_not(mask[:, :-1])).any())
