# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Programs as research code has them: without annotations, with modules, configurations and functions as values.

TorchScript rejects each of them. What is known before they run is computed, and the rest is typed by the example.
"""

import math
from dataclasses import dataclass, field

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.arange(12.0).reshape(3, 4)


@dataclass
class Config:
    dim: int = 4
    layers: int = 3
    act: str = "relu"
    skips: dict = field(default_factory=lambda: {"every": 2})


class Tower(nn.Module):
    """Modules chosen by index, by name and by `zip`; a configuration object; tuples that grow."""

    def __init__(self, config):
        super().__init__()
        torch.manual_seed(0)
        self.config, self.n = config, config.layers
        self.blocks = nn.ModuleList([nn.Linear(config.dim, config.dim) for _ in range(self.n)])
        self.norms = nn.ModuleDict({"pre": nn.LayerNorm(config.dim), "post": nn.Identity()})
        self.scales = nn.ParameterList([nn.Parameter(torch.full((), 1.0 + k)) for k in range(self.n)])
        self.head0, self.head1 = nn.Linear(config.dim, 2), nn.Linear(config.dim, 2)

    def forward(self, x):
        seen = ()
        for i in range(self.n):
            if i % self.config.skips["every"] == 1:
                continue
            y = self.blocks[i](self.norms["pre"](x)) * self.scales[i]
            x = F.relu(y) if self.config.act == "relu" else y.tanh()
            seen += (x.sum(),)
        heads = [getattr(self, f"head{k}")(x) for k in range(2)]
        for (name, norm), head in zip(self.norms.items(), heads):
            if name == "post":
                x = x + norm(head).sum()
        return x, torch.stack(seen)


@pytest.mark.slow
def test_modules_and_configurations():
    check(Tower(Config()), (X,), (X * 0.1,), (-X,))
    check(Tower(Config(layers=2, act="tanh")), (X,))


@pytest.mark.slow
@torch.no_grad()
def test_a_change_of_what_was_read_is_seen():
    model = Tower(Config())
    compiled = ssa_compiler.compile(model, (X,))
    model.config.act = "tanh"
    torch.testing.assert_close(compiled(X), model(X))
    model.config.skips["every"] = 3
    torch.testing.assert_close(compiled(X), model(X))
    model.n = 2
    torch.testing.assert_close(compiled(X), model(X))
    assert len(compiled.specialisations) == 4


class Anchors:
    """An object of a detector that is no module, and holds tensors."""

    def __init__(self, strides):
        self.strides = strides
        self.base = [torch.tensor([[-s, -s, s, s]]) * 0.5 for s in strides]
        self.offset = torch.tensor(0.5)

    @property
    def levels(self):
        return len(self.strides)

    def single(self, size, level, device="cpu"):
        h, w = size
        xs = (torch.arange(w, device=device) + self.offset) * self.strides[level]
        ys = (torch.arange(h, device=device) + self.offset) * self.strides[level]
        xx, yy = xs.repeat(len(ys)), ys.view(-1, 1).repeat(1, len(xs)).view(-1)
        return (self.base[level][None] + torch.stack([xx, yy, xx, yy], -1)[:, None]).view(-1, 4)

    def grid(self, sizes, device="cpu"):
        assert len(sizes) == self.levels, f"expected {self.levels} levels"
        return [self.single(sizes[i], level=i, device=device) for i in range(self.levels)]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.anchors = Anchors([4, 8])
        self.convs = nn.ModuleList([nn.Conv2d(3, 4, 1) for _ in range(2)])

    def forward(self, feats):
        anchors = self.anchors.grid([f.shape[-2:] for f in feats], device=feats[0].device)
        boxes = [c(f).permute(0, 2, 3, 1).reshape(f.size(0), -1, 4) + a for f, c, a in zip(feats, self.convs, anchors)]
        return torch.cat(boxes, 1), list(zip(*[(b.sum(), b.max()) for b in boxes]))[0][1]  # noqa: RUF015


@pytest.mark.slow
@torch.no_grad()
def test_objects_that_hold_tensors():
    feats = [torch.randn(1, 3, 4, 4), torch.randn(1, 3, 2, 2)]
    checked = check(Detector(), (feats,), ([-f for f in feats],))
    model = Detector()
    compiled = ssa_compiler.compile(model, (feats,))
    model.anchors.base[0] = model.anchors.base[0] + 3
    model.anchors.offset.add_(1)
    torch.testing.assert_close(compiled(feats), model(feats))
    assert checked.compiled.explain().callbacks == ()


def solve(f, y0, ts, step):
    ys, y = [y0], y0
    for t0, t1 in zip(ts[:-1], ts[1:]):  # noqa: RUF007
        y = step(f, t0, t1 - t0, y)
        ys.append(y)
    return torch.stack(ys)


def midpoint(f, t, dt, y):
    return y + dt * f(t + dt / 2, y + dt / 2 * f(t, y))


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))

    def forward(self, y0, ts, power=1, damped=False):
        rate = 0.1 if damped else 0.0

        def field(t, y):
            return (y**power) @ self.a - rate * y

        if damped:
            return solve(field, y0, ts, midpoint)
        return solve(field, y0, ts, lambda f, t, dt, y: y + dt * f(t, y))


def test_functions_as_values():
    y, ts = torch.ones(2, 2), torch.linspace(0, 1, 4)
    check(Dynamics(), (y, ts), (y * 2, ts * 3))
    check(Dynamics(), (y, ts, 3, True))


def counted(x, n, scale=1.0, names=None):
    keep, pairs, best, highest = [], {}, None, 0.0
    for i in range(n):
        row = x[i]
        if row.sum() > 3:
            keep.append(i)
            highest = row.max().item()
            best = row
        pairs[i] = row * scale
        last = row
    b, *sizes = x.shape
    total = sum(v.sum() for v in pairs.values())
    order = sorted(range(n), key=lambda k: -x[k, 0].item(), reverse=True)
    flat = x.reshape(*x.shape[:-1], 2, -1).tolist()
    evens = [a for a in x.long().view(-1).tolist() if a % 2 == 0]
    return keep, highest, total, order, flat, evens, b, sizes[0], last, best if best is not None else x[0]


@pytest.mark.slow
def test_types_follow_from_the_example():
    for n in (1, 3):
        check(counted, (X, n), (X - 20, n), compiled=False)
    compiled = ssa_compiler.compile(counted, (X, 3))
    for arguments in ((X, 2), (X, 3, 2), (X, 3, 2.5), (X * 2, 1)):
        torch.testing.assert_close(compiled(*arguments), counted(*arguments))


def helper(x, k, flag=None, *rest, **options):
    for r in rest:
        x = x + r
    if flag is None:
        return x * k
    return x * k + options.get("bias", 0), k


def called(x, n):
    a = helper(x, n)
    b, k = helper(x, 2.5, True, x, 1, bias=3)
    c, m = helper(x, x, "yes")
    return a, b, k, c, m, helper(x, math.pi)


def test_a_copy_for_each_set_of_types():
    check(called, (X, 2), (X, 0), compiled=False)


def retyped(x, mask):
    size = x.shape
    size = size[0] * len(size)
    out = x[:1]
    out, n = out.sum().item(), size
    x, _ = x.max(dim=1)
    for _ in range(2):
        x = x + out
    total = 0
    for row, keep in zip([x, x * 2], (True, False)):
        total += row if keep else 1
    src, dst = mask.nonzero().t()
    return x, n, total, src + dst


def test_variables_of_several_types():
    check(retyped, (X, X > 3), (X, X < 0), compiled=False)


class Mixed(nn.Module):
    """The part that a number of the program chooses, `break` and `else` in loops over modules."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.experts = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.ReLU()])

    def forward(self, x, which):
        for i in which.tolist():
            x = self.experts[i](x)
        for k, expert in enumerate(self.experts):
            if x.sum() > 10 * k:
                break
            x = expert(x) + k
        else:
            x = -x
        return x


def test_modules_chosen_by_numbers():
    calls = [(X * s, torch.tensor(w)) for s, w in ((1, [0, 2]), (-1, [1, 1]), (-100.0, [2, -1]))]
    check(Mixed(), *calls, compiled=False)
    with pytest.raises(IndexError):
        Mixed()(X, torch.tensor([3]))


def grown(items, n):
    other = items
    for i in range(n):
        other.append(items[i] * 2)
    return len(items), items[-1], [x.sum() for x in items]


def test_lists_that_grow():
    check(grown, ([X, X + 1], 2), ([X, X - 3], 2), compiled=False)


class Named(nn.Module):
    """Attributes of the class, properties, a buffer that is None."""

    scale, names = 2, ("first", "second")

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.register_buffer("bias", None)

    @property
    def doubled(self):
        return self.scale * 2

    def forward(self, x):
        for name in self.names:
            x = getattr(self, name)(x) * self.scale
        if self.bias is not None:
            x = x + self.bias
        return x * self.doubled, torch.ones(1, *x.shape, self.scale).sum(), [1, *x.shape][1]


@torch.no_grad()
def test_attributes_of_the_class():
    check(Named(), (X,), (-X,), compiled=False)
    model = Named()
    compiled = ssa_compiler.compile(model, (X,))
    model.scale = 3
    torch.testing.assert_close(compiled(X), model(X))


class Counter(nn.Module):
    """State that a function beside the class assigns is no constant."""

    def __init__(self):
        super().__init__()
        self.count, self.parts = 1, [nn.Identity(), nn.ReLU()]
        self.blocks = nn.ModuleList(self.parts)

    def forward(self, x):
        for block in [self.blocks[0], self.blocks[1]]:
            x = block(x) * self.count
            advance(self)
        return x, self.count


def advance(module):
    module.count += 1


def test_state_is_no_constant():
    check(Counter(), (X,), (X,), compiled=False)


def test_the_users_line_is_named():
    def unknown(x, n):
        y = [x[k] for k in range(n) if k % 2 == 0]
        return y[0] + missing  # noqa: F821

    with pytest.raises(ssa_compiler.ScriptError, match=r"partial_evaluation_test\.py"):
        import_program(unknown, (X, 2))
