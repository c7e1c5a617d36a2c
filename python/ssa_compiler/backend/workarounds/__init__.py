"""Ops that torch-mlir or IREE compile to a wrong result, or not at all, written in another way."""
