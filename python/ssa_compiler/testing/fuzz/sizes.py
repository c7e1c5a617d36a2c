"""Random programs about sizes: every number in them is computed from the sizes of the arguments.

The other grammar knows each shape while it writes, so its programs do with few sizes. These take any: each statement
says what it does in terms of what it is given, whether a size is odd, even, 1 or 0; where eager raises for one, so has
the compiled program to. They are run with `Dim.AUTO` for all sizes.
"""

from __future__ import annotations

import random
from collections import Counter

from .arguments import SHAPES
from .generate import generate
from .program import Program

__all__ = ["auto_program", "size_program"]

# What makes a tensor of a rank from one of a rank. `{t}` is the tensor, `{d}` one of its dimensions and `{e}` another
# one, `{k}` a small number, `{h}` a number computed from the size of dimension d (at most that size), `{i}` a new name.
_EXPRESSIONS: dict[str, list[tuple[int, int, str]]] = {
    "slice": [
        (1, 1, "{t}[{h}:]"),
        (1, 1, "{t}[:{h}]"),
        (1, 1, "{t}[-{h}:]"),
        (1, 1, "{t}[:-{k}]"),
        (1, 1, "{t}[{k}::2]"),
        (1, 1, "{t}[{h}:{h} + {k}]"),
        (2, 2, "{t}[:, {h}:]"),
        (2, 2, "{t}[:{h}, {k}:]"),
        (2, 2, "{t}[{k}:-1, ::2]"),
        (2, 2, "{t}[:, -{k}:]"),
        (3, 3, "{t}[..., :{h}]"),
        (3, 2, "{t}[:, :, -1]"),
        (2, 1, "{t}[{h} - 1]"),
        (2, 1, "{t}[:, 0]"),
    ],
    "narrow": [
        (2, 2, "{t}.narrow({d}, {h}, {t}.size({d}) - {h})"),
        (2, 2, "{t}.narrow({d}, 0, {h})"),
        (1, 1, "{t}.narrow(0, -{h}, {h})"),
        (2, 1, "{t}.select({d}, {h} - 1)"),
        (3, 2, "{t}.select({d}, -1)"),
    ],
    "together": [
        (2, 2, "torch.cat([-{t}.narrow({d}, {h}, {t}.size({d}) - {h}), {t}.narrow({d}, 0, {h})], {d})"),
        (1, 1, "torch.cat([-{t}[{h}:], {t}[:{h}]])"),
        (2, 2, "torch.cat([{t}, {t}[{h}:]], 0)"),
        (2, 2, "torch.cat([{t}, {t}.flip({d})], {e})"),
        (1, 2, "torch.stack([{t}, {t}.roll(1)], {k} % 2)"),
        (2, 3, "torch.stack([{t}, -{t}], {d})"),
        (2, 1, "torch.hstack([{t}.flatten(), {t}.sum(0)])"),
    ],
    "parts": [
        (2, 2, "{t}.chunk(2, {d})[0]"),
        (2, 2, "{t}.chunk(3, {d})[-1]"),
        (1, 1, "{t}.split({k})[-1]"),
        (2, 2, "{t}.split([{h}, {t}.size({d}) - {h}], {d})[1]"),
        (2, 2, "{t}.tensor_split(3, {d})[1]"),
        (2, 2, "torch.cat({t}.split({k}, {d})[::-1], {d})"),
        (2, 1, "torch.stack({t}.unbind({d})).sum({e})"),
        (1, 2, "torch.stack([{t}[{h}:], {t}[:{t}.size(0) - {h}]])"),
    ],
    "shape": [
        (2, 1, "{t}.reshape(-1)"),
        (2, 1, "{t}.t().flatten()"),
        (2, 2, "{t}.reshape({t}.size(1), {t}.size(0))"),
        (2, 2, "{t}.reshape({t}.size(0), -1)"),
        (2, 3, "{t}.view({t}.size(0), 1, {t}.size(1))"),
        (1, 2, "{t}.view(1, -1)"),
        (1, 2, "{t}[:{t}.size(0) // 2 * 2].reshape(-1, 2)"),
        (1, 2, "{t}[:{t}.size(0) // 2 * 2].view(2, {t}.size(0) // 2)"),
        (3, 2, "{t}.flatten(1)"),
        (3, 2, "{t}.flatten(0, 1)"),
        (3, 1, "{t}.transpose(0, 2).reshape(-1)"),
        (2, 3, "{t}.unflatten({d}, (1, -1))"),
        (2, 2, "{t}.t()"),
        (3, 3, "{t}.permute(2, 0, 1)"),
        (3, 3, "{t}.movedim({d}, 0)"),
        (2, 3, "{t}.unsqueeze({d})"),
        (2, 2, "{t}.unsqueeze({d}).squeeze({d})"),
        (2, 2, "{t}[None].squeeze(0)"),
        (2, 2, "{t}.view_as({t}.clone())"),
    ],
    "repeat": [
        (1, 2, "{t}.expand({k}, -1)"),
        (2, 3, "{t}.unsqueeze(1).expand({t}.size(0), {k}, {t}.size(1))"),
        (1, 2, "{t}.expand({t}.size(0), {t}.size(0))"),
        (2, 2, "{t}.repeat({k}, 2)"),
        (1, 1, "{t}.repeat({t}.size(0) % 3)"),
        (2, 2, "{t}.tile([1, {k}])"),
        (2, 2, "{t}.repeat_interleave(2, {d})"),
        (1, 2, "{t}[:, None].expand(-1, {k}).contiguous()"),
    ],
    "moved": [
        (2, 2, "{t}.roll({k}, {d})"),
        (2, 2, "{t}.roll({h}, {d})"),
        (2, 2, "{t}.flip([0, 1])"),
        (2, 2, "{t}.rot90()"),
        (1, 1, "{t}.roll(-{h})"),
    ],
    "pad": [
        (2, 2, "F.pad({t}, [{k}, {h}])"),
        (2, 2, "F.pad({t}, [0, 0, {h}, {k}], value=-1.0)"),
        (1, 1, "F.pad({t}, [-({t}.size(0) // 2), 1])"),
        (3, 3, "F.pad({t}, [1, 1], mode='replicate')"),
    ],
    "windows": [
        (1, 2, "{t}.unfold(0, {t}.size(0) // 2, 1)"),
        (2, 3, "{t}.unfold({d}, 1, {k})"),
        (3, 3, "F.max_pool1d({t}, 2, {k}, 1)"),
        (3, 3, "F.avg_pool1d({t}, 1, {k})"),
        (3, 3, "F.adaptive_avg_pool1d({t}, {k})"),
        (3, 3, "F.interpolate({t}, scale_factor=2.0)"),
        (3, 3, "F.interpolate({t}, size=[{t}.size(2) + {k}])"),
        (2, 2, "F.conv1d({t}[:, None], torch.ones(1, 1, {k}), padding={k})[:, 0]"),
    ],
    "product": [
        (2, 2, "{t} @ {t}.t()"),
        (2, 2, "{t}.t() @ {t}"),
        (2, 1, "{t} @ {t}.sum(0)"),
        (3, 3, "{t} @ {t}.transpose(1, 2)"),
        (1, 2, "torch.outer({t}, {t}[{h}:])"),
        (2, 2, "torch.einsum('ij,kj->ik', {t}, {t}[{k}:])"),
        (2, 2, "({t} @ {t}.t() * 0.1).softmax(-1) @ {t}"),
        (2, 2, "F.scaled_dot_product_attention({t}[None], {t}[None], {t}[None])[0]"),
    ],
    "broadcast": [
        (2, 2, "{t} + {t}.mean({d}, keepdim=True)"),
        (2, 2, "{t} * {t}[:1]"),
        (2, 2, "{t} - {t}[:, :1]"),
        (1, 2, "{t}[:, None] + {t}[None, :]"),
        (2, 2, "{t} + {t}.sum({d}).unsqueeze({d})"),
        (2, 2, "{t} / {t}.size({d})"),
        (2, 2, "torch.where({t}[:1] > 0, {t}, {t}[:, :1])"),
        (1, 1, "{t} + {t}.new_ones({t}.size(0))"),
        (2, 2, "{t} + torch.arange({t}.size(1))"),
        (2, 2, "{t} * torch.eye({t}.size(0))[:, :1]"),
    ],
    "reduce": [
        (2, 1, "{t}.sum({d})"),
        (2, 1, "{t}.mean({d})"),
        (2, 1, "{t}.amax({d})"),
        (2, 1, "{t}.min({d}).values"),
        (3, 2, "{t}.logsumexp({d})"),
        (2, 1, "{t}.var({d})"),
        (2, 1, "{t}.std({d}, unbiased=False)"),
        (2, 1, "{t}.norm(dim={d})"),
        (2, 1, "{t}.argmax({d}).float()"),
        (2, 1, "({t} > 0).all({d}).float()"),
        (2, 1, "({t} > 0).any({d}).float() - ({t} < 0).sum({d})"),
        (2, 1, "{t}.prod({d})"),
        (2, 1, "torch.stack([{t}.sum(), {t}.mean(), ({t} > 0).sum()])"),
    ],
    "along": [
        (2, 2, "{t}.cumsum({d})"),
        (2, 2, "{t}.softmax({d})"),
        (2, 2, "{t}.log_softmax({d})"),
        (2, 2, "F.normalize({t}, dim={d})"),
        (2, 2, "F.layer_norm({t}, [{t}.size(1)])"),
        (2, 2, "{t}.tril(1)"),
        (2, 2, "{t}.triu(-{h})"),
        (2, 2, "{t}.diff(dim={d})"),
        (1, 1, "{t}.sort(descending=True).values"),
        (1, 1, "{t}.topk({h}).values"),
        (2, 1, "{t}.diagonal({k} - 1) * 1"),
        (1, 2, "torch.diag({t})"),
        (3, 3, "F.group_norm({t}, 1)"),
        (3, 3, "F.instance_norm({t})"),
    ],
    "indexed": [
        (2, 2, "{t}[torch.arange({h})]"),
        (2, 2, "{t}.index_select({d}, torch.arange({t}.size({d}) - 1, -1, -1))"),
        (2, 2, "{t}[:, torch.arange({t}.size(0)) % {t}.size(1)]"),
        (2, 2, "{t}.gather({d}, torch.zeros_like({t}, dtype=torch.int64))"),
        (2, 2, "{t}.take_along_dim({t}.argsort({d}), {d})"),
        (2, 1, "{t}[{t} > 0]"),
        (1, 1, "{t}[({t} < 0).nonzero().flatten()]"),
        (2, 2, "{t}[{t}[:, :1].sum(1) >= 0]"),
        (2, 1, "{t}[torch.arange({h}), torch.zeros([{h}], dtype=torch.int64)]"),
        (1, 1, "torch.zeros({t}.size(0) + {k}).index_add(0, torch.arange({t}.size(0)) // 2, {t})"),
        (1, 2, "F.one_hot(torch.arange({t}.size(0)) % 3, 3) * {t}[:, None]"),
        (1, 1, "torch.ones({t}.size(0) // 2 + 1).scatter(0, torch.arange({t}.size(0)) // 2, {t})"),
    ],
    "made": [
        (2, 2, "torch.ones({t}.size(1), {h})"),
        (2, 1, "torch.arange({t}.size(0), {t}.size(0) + {t}.size(1)).float()"),
        (1, 2, "torch.zeros(2, {t}.size(0)) + {t}"),
        (2, 1, "torch.full([{t}.numel()], 2.0)"),
        (2, 2, "torch.empty_like({t}[{h}:]).fill_({t}.size(0) * 1.0)"),
        (1, 1, "torch.linspace(0.0, 1.0, {t}.size(0))"),
        (2, 1, "torch.tensor([{t}.size(0), {t}.size(1) % 2, {t}.numel() // 3]).float()"),
    ],
}

# Statements; `{o}` is the result.
_STATEMENTS: dict[str, list[tuple[int, int, str]]] = {
    "write": [
        (2, 2, "{o} = {t}.clone()\n{o}[:{h}] += 1.0"),
        (2, 2, "{o} = {t} * 1\n{o}[:, {h}:] = {t}[:, {h}:] * 2"),
        (2, 2, "{o} = {t}.clone()\nv{i} = {o}.narrow({d}, {h}, {t}.size({d}) - {h})\nv{i}.mul_(-1.0)\n{o} += 1"),
        (2, 2, "{o} = {t}.clone()\n{o}[{h}:] = {t}[:{t}.size(0) - {h}]"),
        (1, 1, "{o} = {t}.clone()\n{o}[::2] = -1.0\n{o}[{h}:{h} + 1] *= 3.0"),
        (2, 2, "{o} = {t}.clone()\n{o}.view(-1)[::{k}] += 2.0"),
        (2, 2, "{o} = {t}.clone()\n{o}.t()[:{k}] = 0.5"),
        (2, 2, "{o} = {t}.clone()\n{o}.diagonal().add_(1.0)"),
        (2, 2, "{o} = {t}.clone()\n{o}[-1] = {o}[0]"),
        (2, 2, "{o} = {t}.clone()\n{o}[{t} > 0] = 0.0"),
        (2, 2, "{o} = torch.zeros({t}.size(0) + {k}, {t}.size(1))\n{o}[{k}:] = {t}"),
        (2, 2, "{o} = {t}.clone()\nfor p{i} in {o}.chunk(2, {d}):\n    p{i} += p{i}.sum()"),
        (2, 2, "{o} = {t}.clone()\n{o}[torch.arange({h})] = {t}[:1]"),
        (3, 3, "{o} = {t}.clone()\n{o}[:, :, {h}:].clamp_(min=0.0)"),
        (3, 3, "{o} = {t}.clone()\n{o}.transpose(0, 2)[-{k}:] *= -1.0"),
    ],
    "loop": [
        (2, 1, "{o} = torch.zeros({t}.size(1))\nfor i{i} in range({t}.size(0)):\n    {o} = {o} * 0.5 + {t}[i{i}]"),
        (2, 2, "{o} = {t}.clone()\nfor i{i} in range({h}):\n    {o}[i{i}] = {t}[{t}.size(0) - 1 - i{i}]"),
        (1, 1, "{o} = {t}.clone()\nfor i{i} in range(1, {t}.size(0), 2):\n    {o}[i{i}] += {o}[i{i} - 1]"),
        (
            2,
            2,
            "l{i} = [{t}[0] * 0 + 1]\nfor i{i} in range({h}):\n    l{i}.append({t}[i{i}] + l{i}[-1])\n{o} = torch.stack(l{i})",
        ),
        (
            1,
            1,
            "{o} = {t}\nn{i} = {t}.size(0)\nwhile n{i} > 1:\n    {o} = {o}[: n{i} // 2] + {o}[n{i} - n{i} // 2 :]\n    n{i} = {o}.size(0)",
        ),
        (2, 2, "{o} = {t}\nfor i{i} in range({k}):\n    {o} = torch.cat([{o}, {o}[-1:] + 1.0])"),
        (2, 2, "{o} = {t}.clone()\nfor p{i} in {t}.split(2, {d}):\n    {o} = {o} + p{i}.sum()"),
        (2, 2, "{o} = {t}.clone()\nfor r{i} in {o}.unbind(0):\n    r{i} += r{i}.sum()"),
        (
            1,
            1,
            "{o} = torch.zeros(0)\nfor i{i} in range({t}.size(0)):\n    {o} = torch.cat([{t}[i{i} : i{i} + 1], {o}])",
        ),
    ],
    "branch": [
        (2, 2, "{o} = {t}\nif {t}.size({d}) % 2 == 0:\n    {o} = {t} * 2.0"),
        (2, 2, "if {t}.size(0) > {t}.size(1):\n    {o} = {t}.t()\nelse:\n    {o} = {t} + 1.0"),
        (1, 1, "if {t}.size(0) % 2 == 1:\n    {o} = F.pad({t}, [0, 1])\nelse:\n    {o} = {t}[1:]"),
        (2, 2, "{o} = {t}.clone()\nif {t}.size({d}) > 1:\n    {o}.narrow({d}, 1, 1).zero_()"),
        (2, 1, "if {t}.numel() == 0:\n    {o} = torch.zeros(1)\nelse:\n    {o} = {t}.flatten()[{t}.numel() // 2 :]"),
        (1, 1, "if {t}.sum() > 0:\n    {o} = {t}[{h}:]\nelse:\n    {o} = {t}[:{h}]"),
    ],
}
_FAMILIES = {**_EXPRESSIONS, **_STATEMENTS}
_NUMBERS = (
    "{t}.size({d}) // 2",
    "{t}.size({d}) // 3",
    "({t}.size({d}) + 1) // 2",
    "min({t}.size({d}), {k})",
    "{t}.size({d}) % 2",
)


def auto_program(seed: int) -> Program:
    """Return the program of a seed to run with dynamic sizes: every other one is of the usual grammar."""
    return size_program(seed) if seed % 2 else generate(seed)


def size_program(seed: int) -> Program:
    """Write a program about sizes.

    Args:
        seed: which one; the same seed always gives the same program.
    Returns:
        The program, with its features.
    """
    choice = random.Random(f"sizes {seed}")
    features: Counter[str] = Counter()
    values = [("x", 2), ("y", 1)]
    lines: list[str] = []
    for number in range(choice.randint(2, 5)):
        family = choice.choice(sorted(_FAMILIES))
        fitting = [(name, form) for name, rank in values for form in _FAMILIES[family] if form[0] == rank]
        if not fitting:
            continue
        source, (rank, made, form) = choice.choice(fitting)
        d = choice.randrange(rank)
        numbers = {"t": source, "d": d, "e": (d + 1) % rank, "k": choice.randint(1, 3), "i": number, "o": f"t{number}"}
        half = choice.choice(_NUMBERS).format(**numbers)
        if "{h}" in form:
            lines.append(f"h{number} = {half}")
        text = form.format(**numbers, h=f"h{number}")
        lines += text.split("\n") if family in _STATEMENTS else [f"t{number} = {text}"]
        values.append((f"t{number}", made))
        features[f"sizes.{family}"] += 1
    results = [name for name, _ in values[2:]] or ["x * 2"]
    body = "".join(f"    {line}\n" for line in [*lines, f"return {', '.join(results)},"])
    rows = "".join(
        f"    (tensor('float32', [{a}, {b}], {seed + each}), tensor('float32', [{c}], {seed - each})),\n"
        for each, (a, b, c) in enumerate(SHAPES)
    )
    text = (
        f'"""Random program {seed} of ssa_compiler.testing.fuzz, about sizes."""\n\n'
        "import torch\nimport torch.nn.functional as F\nfrom torch import Tensor\n\n"
        "from ssa_compiler.testing.fuzz.arguments import alias, tensor\n\n\n"
        f"def program(x: Tensor, y: Tensor):\n{body}\n\nINPUTS = [\n{rows}]\n"
    )
    return Program(text, seed, features)
