"""What the ops on scalars and strings are called with: expressions of Python, and boundary values."""

from __future__ import annotations

import math

__all__ = [
    "ARGUMENTS",
    "EXPRESSIONS",
    "FLOATS",
    "FURTHER",
    "INTS",
    "NOT_COMPARED",
    "SMALL",
    "STRINGS",
    "TEXTS",
    "TEXT_EXPRESSIONS",
    "VARIABLES",
]


_UNARY_MATH = (
    "acos acosh asin asinh atan atanh cos cosh degrees erf erfc exp expm1 fabs gamma lgamma log log10 log1p radians sin sinh "
    "sqrt tan tanh"
)


_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "add": "+", "sub": "-", "mul": "*"}


_METHODS = (
    "capitalize center count endswith expandtabs find index isalnum isalpha isdecimal isdigit isidentifier islower isnumeric "
    "isprintable isspace istitle isupper ljust lower lstrip partition replace rfind rindex rjust rpartition rsplit rstrip split "
    "splitlines startswith strip swapcase title upper zfill"
)


EXPRESSIONS: dict[str, tuple[str, str]] = {
    **{f"aten::{name}": (f"math.{name}({{0}})", "float") for name in _UNARY_MATH.split()},
    **{f"aten::{name}": (f"math.{name}({{0}}, {{1}})", "float") for name in ("atan2", "copysign", "fmod", "ldexp")},
    **{f"aten::{name}": (f"{{0}} {sign} {{1}}", "bool") for name, sign in _SIGNS.items()},
    **{f"aten::{name}": (f"{{0}} {_SIGNS[name]} {{1}}", "") for name in ("add", "sub", "mul")},
    **{f"aten::is{name}": (f"math.is{name}({{0}})", "bool") for name in ("nan", "inf", "finite")},
    **{f"prim::{name}": (f"{name}({{0}}, {{1}})", "") for name in ("max", "min")},
    "aten::Bool": ("bool({0})", "bool"),
    "aten::Float": ("float({0})", "float"),
    "aten::Int": ("int({0})", "int"),
    "aten::__and__": ("{0} & {1}", ""),
    "aten::__lshift__": ("{0} << {1}", "int"),
    "aten::__not__": ("not {0}", "bool"),
    "aten::__or__": ("{0} | {1}", ""),
    "aten::__rshift__": ("{0} >> {1}", "int"),
    "aten::__xor__": ("{0} ^ {1}", ""),
    "aten::ceil": ("math.ceil({0})", "int"),
    "aten::div": ("{0} / {1}", "float"),
    "aten::divmod": ("divmod({0}, {1})[0]", ""),
    "aten::factorial": ("math.factorial({0})", "int"),
    "aten::floor": ("math.floor({0})", "int"),
    "aten::floordiv": ("{0} // {1}", ""),
    "aten::frexp": ("math.frexp({0})[0]", "float"),
    "aten::gcd": ("math.gcd({0}, {1})", "int"),
    "aten::mathremainder": ("math.remainder({0}, {1})", "float"),
    "aten::modf": ("math.modf({0})[0]", "float"),
    "aten::neg": ("-{0}", ""),
    "aten::pow": ("{0} ** {1}", ""),
    "aten::remainder": ("{0} % {1}", ""),
    "aten::round": ("int(round({0}))", "int"),
    "prim::abs": ("abs({0})", ""),
}
"""What an op on numbers is in Python, and the type of the result, "" for that of the operands; both may be given."""


FURTHER: tuple[tuple[str, str, str], ...] = (
    ("a", "math.pow(a, b)", "float"),
    ("x", "math.pow(x, y)", "float"),
    ("x", "divmod(x, y)[1]", "float"),
    ("a", "divmod(a, b)[1]", "int"),
    ("x", "math.modf(x)[1]", "float"),
    ("x", "math.frexp(x)[1]", "int"),
    ("x", "math.log(x, y)", "float"),
    ("x", "(x - y) + y", "float"),
    ("x", "(x + y) - y", "float"),
    ("x", "x * y + x", "float"),
    ("x", "x - x * y", "float"),
    ("x", "x * 0.0", "float"),
    ("x", "x + 0.0", "float"),
    ("x", "0.0 / x", "float"),
    ("x", "x % 1.0", "float"),
    ("x", "x * -0.0", "float"),
    ("x", "x * 0.1 * 3.0", "float"),
    ("x", "not x > y", "bool"),
    ("x", "not x <= y", "bool"),
    ("x", "not x == y", "bool"),
    ("x", "x == x", "bool"),
    ("x", "x <= y or x > y", "bool"),
    ("a", "a << 70", "int"),
    ("a", "a >> 70", "int"),
    ("a", "a == 9007199254740992.0", "bool"),
    ("a", "int(a ** 3)", "int"),
    ("a", "a ** -1", "float"),
    ("x", "x ** 2", "float"),
    ("x", "x ** 0.5", "float"),
    ("x", "x ** -3", "float"),
    ("a", "2.0 ** a", "float"),
)
"""The variable that decides the kind of the operands, an expression beyond the registry, and the type of its result."""


_LIST = "an op on lists, compared by the tests of lists"


NOT_COMPARED: dict[str, str] = {
    "aten::Complex": "complex numbers are no scalars of the program",
    "aten::__derive_index": "part of range()",
    "aten::__range_length": "part of range()",
    "aten::__round_to_zero_floordiv": "no program of Python's has it",
    "aten::_assert_scalar": "no program of Python's has it",
    "aten::_cufft_clear_plan_cache": "about CUDA, no number",
    "aten::_cufft_get_plan_cache_max_size": "about CUDA, no number",
    "aten::_cufft_get_plan_cache_size": "about CUDA, no number",
    "aten::_cufft_set_plan_cache_max_size": "about CUDA, no number",
    "aten::_print": "no program of Python's has it",
    "aten::angle": "cmath.phase, which is rejected",
    "aten::can_cast": "about dtypes",
    "aten::get_autocast_dtype": "about autocast",
    "aten::hash": "Python's differs from process to process; rejected",
    "aten::manual_seed": "a side effect",
    "aten::polar": "a complex number",
    "aten::promote_types": "about dtypes",
    "aten::result_type": "about dtypes",
    "aten::set_grad_enabled": "a side effect",
    "aten::sym_constrain_range": "no program of Python's has it",
    "aten::sym_constrain_range_for_size": "no program of Python's has it",
    "aten::warn": "a side effect",
    "prim::AddStatValue": "no program of Python's has it",
    "prim::RaiseException": "an exception",
    "prim::StringIndex": "aten::__getitem__ on strings",
    "prims::maximum_value": "about dtypes",
    "prims::minimum_value": "about dtypes",
}
"""Ops on numbers and strings that no expression stands for, and why."""


STRINGS = {f"aten::{name}" for name in _METHODS.split()} | {
    "aten::__getitem__", "aten::add", "aten::bin", "aten::chr", "aten::eq", "aten::format", "aten::ge", "aten::gt", "aten::hex",
    "aten::join", "aten::le", "aten::len", "aten::list", "aten::lt", "aten::ne", "aten::oct", "aten::ord", "aten::percentFormat",
    "aten::slice", "aten::str", "aten::Float", "aten::Int",
}  # fmt: skip


INTS = (
    0,
    1,
    -1,
    2,
    3,
    -7,
    62,
    63,
    64,
    2**31,
    37511488,
    -441410671957101725,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**63 - 1,
    1 - 2**63,
    -(2**63),
)


SMALL = (0, 1, -1, 2, 20, 21, 62, 63, 64, 65)
"""What Python counts with: factorials, shifts, powers."""


FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 3.0, -3.7, 0.1, 1e-3, 1e16, 2.0**53, 2.0**63, -(2.0**63), 710.0, 1e308, 5e-324, 1e-310,
    math.inf, -math.inf, math.nan,
)  # fmt: skip


TEXTS = ("", "a", "Ab c", " x\ty \r\n", "straße ÄÖ", "12", "aXbXc", "X", "_n1", "%", "  ", "\u2028z")


ARGUMENTS = "a: int, b: int, x: float, y: float, p: bool, q: bool"


VARIABLES = {"int": "ab", "float": "xy", "bool": "pq"}


TEXT_EXPRESSIONS = (
    *(f"{{s}}.{name}()" for name in _METHODS.split() if name.startswith("is")),
    *(f"{{s}}.{name}()" for name in ("capitalize", "lower", "swapcase", "title", "upper", "strip", "lstrip", "rstrip")),
    *(f"{{s}}.{name}({{t}})" for name in ("count", "find", "index", "rfind", "rindex", "startswith", "endswith")),
    *(f"{{s}}.{name}({{t}}, 1)" for name in ("count", "find", "rfind", "startswith", "endswith")),
    *(f"{{s}}.{name}({{t}}, 0, 2)" for name in ("count", "find", "rfind", "startswith", "endswith")),
    *(f"{{s}}.{name}({{t}}, 0, -1)" for name in ("count", "find", "rfind", "startswith", "endswith")),
    *(f"{{s}}.{name}({{t}})" for name in ("strip", "lstrip", "rstrip", "split", "rsplit", "partition", "rpartition")),
    *(f"{{s}}.{name}(7)" for name in ("center", "ljust", "rjust", "zfill", "expandtabs")),
    *(f"{{s}}.{name}({{t}}, 1)" for name in ("split", "rsplit")),
    "{s}.split()", "{s}.rsplit()", "{s}.splitlines()", "{s}.splitlines(True)", "{s}.center(6, '*')",
    "{s}.replace({t}, 'zz')", "{s}.replace({t}, 'zz', 1)", "{t}.join([{s}, 'u', {t}])",
    "{s} + {t}", "{s} < {t}", "{s} <= {t}", "{s} > {t}", "{s} >= {t}", "{s} == {t}", "{s} != {t}", "{s} in [{t}, 'a']",
    "len({s})", "{s}[0]", "{s}[-1]", "{s}[1:3]", "{s}[-2:]", "ord({s})", "int({s})", "float({s})", "'<{{}}>'.format({s})",
    "'<%s>' % {s}", "str({s})", "chr(228)", "chr(-1)", "hex(-255)", "oct(8)", "bin(-5)", "str(0.1)", "str(1.0)", "str(1e300)",
    "str(True)", "str(-0.0)", "str(None)", "'%d %5.2f' % (3, 2.5)", "'{{}} {{}}'.format(1.0, True)",
)  # fmt: skip
"""Expressions on strings; a program has no strings but constants."""
