"""Colours MLIR, which Pygments does not know."""

from __future__ import annotations

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

__all__ = ["MlirLexer"]


class MlirLexer(RegexLexer):
    """Values, ops, types, attributes."""

    name = "MLIR"
    aliases = ("mlir",)
    filenames = ("*.mlir",)
    tokens = {  # noqa: RUF012 - Pygments wants a class attribute
        "root": [
            (r"//.*$", Comment),
            (r'"(?:[^"\\]|\\.)*"', String),
            (r"%[\w$.#-]+(?::\d+)?", Name.Variable),
            (r"\^\w+", Name.Label),
            (r"@[\w$.-]+", Name.Function),
            (r"![\w$.]+|\b(?:index|none|[fiu]\d+|bf16|tensor|memref|vector)\b", Keyword.Type),
            (r"#[\w$.]+", Name.Constant),
            (r"\b[a-z_]\w*(?:\.\w+)+(?=[ ({])", Name.Builtin),
            (r"\b(?:module|return|to|step|else|iter_args|into|of|attributes|outs|ins|private|func)\b", Keyword),
            (r"-?\b(?:0x[\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\b", Number),
            (r"[\w$.]+", Text),
            (r"[-=<>(){}\[\],:?*+/|&']", Punctuation),
            (r".|\n", Text),
        ]
    }
