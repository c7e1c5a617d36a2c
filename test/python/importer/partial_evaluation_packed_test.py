# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Packed and padded sequences, whose types what follows needs."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

from _nightly import with_nightly
from ssa_compiler.testing import check


class Encoder(nn.Module):
    def __init__(self, kind, batch_first=True):
        super().__init__()
        self.batch_first = batch_first
        self.rnn = getattr(nn, kind)(3, 4, batch_first=batch_first, bidirectional=batch_first)
        self.embedding = nn.Embedding(7, 3)

    def forward(self, sentences, rows=False):
        kept, lengths = [], []
        for s in sentences:
            if len(s) == 0:
                continue
            kept.append(s[:3])
            lengths.append(len(s[:3]))
        tokens = pad_sequence(kept, batch_first=self.batch_first)
        lengths = torch.tensor(lengths)
        x = self.embedding(tokens)
        packed = pack_padded_sequence(x, lengths, batch_first=self.batch_first, enforce_sorted=False)
        out, _ = self.rnn(packed)
        out, lengths = pad_packed_sequence(out, batch_first=self.batch_first)
        result = {"out": out, "pooled": out.sum(-1).softmax(-1)}
        if rows:
            parts = result["pooled"].split([1, len(out) - 1])
            result["rows"] = [[r[:n].tolist() for r in p] for p, n in zip(parts, lengths)]
        return result


def packed_directly(xs, scale):
    packed = pack_sequence([x * scale for x in xs], enforce_sorted=False)
    out, lengths = pad_packed_sequence(packed, batch_first=True)
    parts = {"n": 1, "out": out, "lengths": lengths.tolist()}
    return parts


def sentences(*lengths):
    return [torch.arange(1, n + 1) for n in lengths]


@pytest.mark.slow
def test_packed_sequences_in_recurrent_modules():
    for kind, first in with_nightly([("GRU", True), ("LSTM", False)], [("LSTM", True)]):
        torch.manual_seed(0)
        module = Encoder(kind, first).eval()
        check(module, (sentences(4, 2),), (sentences(4, 2), False))
        if first:
            check(module, (sentences(4, 0, 2), True), (sentences(4, 0, 2), True))


def test_packed_lists():
    xs = [torch.rand(2, 3), torch.rand(1, 3)]
    check(packed_directly, (xs, 2.0), (xs, 0.5))
