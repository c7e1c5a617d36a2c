# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists that have several names, are parts of others or are global, and objects that are asked for their attributes."""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])
ROWS, NUMBERS = [[1], [2, 3]], [1, 2]


def same_names(x, n):
    i = 10
    scaled = lambda t: t * i  # noqa: E731
    return [scaled(x) for i in range(n)]


def test_closures_do_not_read_variables_of_comprehensions():
    check(same_names, (X, 2), (X, 0), (X, 1), compiled=False)


def reshaped(x, n):
    sizes = [1, 3]
    other = sizes
    if n > 0:
        other.append(1)
    y = x.reshape(sizes)
    f = lambda t: t  # noqa: E731
    return f(y.dim()), y.ndim == 3


def test_a_list_gets_longer_by_another_name():
    for n in (1, 0):
        check(reshaped, (X, n), compiled=False)
    compiled = ssa_compiler.compile(reshaped, (X, 1))
    assert [compiled(X, n) for n in (1, 0, 2)] == [reshaped(X, n) for n in (1, 0, 2)]


class Holder:
    scale = 3

    def __init__(self):
        self.n = 1

    def double(self):
        return self.n * 2


def asked(x, n):
    holder = Holder()
    before = hasattr(holder, "later"), hasattr(holder, "scale"), hasattr(holder, "double"), hasattr(holder, "n")
    if n > 0:
        holder.later = x * 2
    after = hasattr(holder, "later"), hasattr(holder, "never")
    if not hasattr(holder, "later"):
        holder.later = x * 5
    return holder.later, before, after, getattr(holder, "n"), getattr(holder, "never", 7)  # noqa: B009


def test_whether_objects_have_attributes():
    check(asked, (X, 1), (X, 0), (X, -1), compiled=False)


class Adds(nn.Module):
    def forward(self, x):
        return x + 1


class Nothing(nn.Module):
    def forward(self, x):
        return None


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Adds(), Nothing()])

    def forward(self, x, i: int):
        y = self.parts[i](x)
        return x - 1 if y is None else y


def test_parts_that_return_other_types():
    check(Chosen(), (X, 0), (X, 1), (X, -1), (X, -2), (X, 2), compiled=False)


class Grows(nn.Module):
    def __init__(self):
        super().__init__()
        self.lists = [[1], [2, 3]]
        self.functions = [torch.relu]

    def forward(self, x, k: int):
        for each in self.lists:
            each.append(1)
        self.lists[k].append(5)
        return self.functions[0](x), len(self.lists[0]), self.lists[1][-1]


@pytest.mark.slow
def test_lists_of_attributes_change():
    grown, compiled = Grows(), Grows()
    program = ssa_compiler.compile(compiled, (X, 0))
    for k in (0, 1, 0):
        assert program(X, k)[1:] == grown(X, k)[1:]
        assert compiled.lists == grown.lists


class Held:
    def __init__(self, held):
        self.held = held


def looped(x, n):
    for row in ROWS:
        row.append(5)
    return (lambda t: t)(x)


def at_a_place(x, n):
    ROWS[n].append(5)
    return (lambda t: t)(x)


def chosen(x, n):
    row = ROWS[0] if n > 0 else [9]
    row.append(5)
    return (lambda t: t)(x)


def held(x, n):
    holder = Held(NUMBERS)
    holder.held.append(4)
    return x


def in_a_list(x, n):
    rows = [NUMBERS, [3]]
    rows[0].append(4)
    return (lambda t: t)(x)


def in_a_dict(x, n):
    rows = {"a": NUMBERS}
    rows["a"].append(3)
    return (lambda t: t)(x)


def bumped(row):
    row[0] = row[0] + 1
    return row[0]


def passed(x, n):
    return (lambda t: t)(x) * sum([bumped(row) for row in ROWS])


@pytest.mark.parametrize("program", [looped, at_a_place, chosen, held, in_a_list, in_a_dict, passed])
def test_global_lists_that_are_changed_are_rejected(program):
    with pytest.raises(errors.ScriptError):
        ssa_compiler.compile(program, (X, 1))
    assert ROWS == [[1], [2, 3]]
    assert NUMBERS == [1, 2]


def reads(x, n):
    f = lambda t: t  # noqa: E731
    return f(x.reshape([*NUMBERS[:1], 3])), sum(NUMBERS), [v * n for v in NUMBERS], NUMBERS == [1, 2], max(ROWS[1])


def test_global_lists_are_read():
    check(reads, (X, 2), (X, 0), compiled=False)


def unpacked(x):
    a, b = x
    return (lambda t: t)(a) + b


def test_a_tensor_without_dimensions_is_not_unpacked():
    check(unpacked, (X[:2],), compiled=False)
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        ssa_compiler.compile(unpacked, (X[:2],))(X.sum())


def compared(x, items):
    found = []
    for i in range(len(items)):
        found.append(i)
    f = lambda t: t  # noqa: E731
    return f(x), items == [], items != [], found == [], found == [0]


def test_lists_are_compared_with_displays():
    for items in ([], ["a"], ["b", "a"]):
        check(compared, (X, items), compiled=False)


class Named:
    def __init__(self, flag):
        self.k = 1
        self.name = "a"
        self.function = torch.relu
        if flag:
            self.other = torch.exp


def returned(x):
    return Named(True)


def not_set(x, n):
    return Named(x.sum() > n).other(x)


def free(x):
    def inner(t):
        return t * ROWS

    y = inner(x)
    ROWS = 2
    return y + ROWS


@pytest.mark.parametrize("program", [returned, not_set, free])
def test_objects_with_attributes_without_types_are_rejected(program):
    with pytest.raises(errors.ScriptError):
        ssa_compiler.compile(program, (X, 1) if program is not_set else (X,))


def counts_elements(x):
    counts, firsts = {}, dict()  # noqa: C408 - both are written
    for position, value in enumerate(x.tolist()):
        counts[value] = counts.get(value, 0) + 1
        if value not in firsts:
            firsts[value] = position
    return counts, firsts, 3 in counts


def sums_by_class(x, labels):
    sums = {}
    for i in range(labels.shape[0]):
        label = labels[i].item()
        sums[label] = sums.get(label, torch.zeros(2)) + x[i]
    out = torch.zeros(2)
    for label in sums:
        out = out + sums[label] * label
    return out, len(sums)


def most_frequent(x, keep):
    """The dtypes of `mode` and `unique` are known, whatever their ranks."""
    classes = x if x.sum() > 3 else x[None]
    seen = {}
    for each in torch.unique(classes):
        if each == 0:
            continue
        found = torch.mode(x[keep & (x == each)].view(-1))[0].item()
        seen[found] = seen.setdefault(found, 0) + 1
    return seen


def never_filled(x):
    nothing = {}
    return 2 in nothing, len(nothing), x


LABELS = [[1, 2, 1], [3, 3, 3], [0, 1, 2], [2], []]


@pytest.mark.slow
def test_dicts_with_keys_that_data_decides() -> None:
    calls = [torch.tensor(each, dtype=torch.int64) for each in LABELS]
    check(counts_elements, *[(x,) for x in calls[:3]], compiled=False)
    check(counts_elements, (calls[3],), compiled=False)
    check(counts_elements, (calls[4],), compiled=False)
    check(sums_by_class, *[(torch.randn(3, 2), x) for x in calls[:3]])
    check(sums_by_class, (torch.randn(1, 2), calls[3]), compiled=False)
    check(most_frequent, *[(x, x > 0) for x in calls[:3]], compiled=False)
    check(never_filled, (calls[0],), compiled=False)


def with_lists_as_defaults(x, n: int):
    """The types of empty lists are those of the elements that they stand for."""
    found: dict[str, list] = {}
    places = {}
    for i in range(n):
        row = {"all": x + i}
        row.update(odd=x * i, even=-x)
        row.update({"all": x - i}, odd=x)
        for name, part in row.items():
            found.setdefault(name, []).append(part)
        places.setdefault(i % 2, []).append(i)
    none = [k + 1 for k in places.get(5, [])]
    return {name: torch.stack(parts).sum() for name, parts in found.items()}, len(places.get(0, [])), none


@pytest.mark.parametrize("n", [0, 1, 3])
def test_lists_as_defaults(n):
    check(with_lists_as_defaults, (torch.arange(3.0), n), compiled=False)


PRICES = {i * 7 % 101: i / 3 + 0.1 for i in range(40)}
BONUS = {"b": 1, "a": 5}


def looked_up(x, n):
    """Dicts and lists that are global, asked for what is dynamic."""
    total, extra, places = 0.0, 0.0, []
    for i in range(n):
        k = int(x[i])
        total += PRICES[k] if k in PRICES else 0.0
        extra += PRICES.get(k + 1, 2.5)
        if PRICES.get(k) is None:
            extra += 100.0
        if k in NUMBERS:
            places.append(NUMBERS.index(k))
    return total, extra, places, NUMBERS.count(int(x[0])), BONUS.get("a", 2)


def test_methods_of_global_containers_at_dynamic_values():
    keys = torch.tensor([*PRICES, 100, -1, 2, 1])
    check(looked_up, (keys, 3), *((keys, n) for n in (0, 1, 2, 44)), (keys.flip(0), 30), exact=True)
