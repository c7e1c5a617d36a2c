"""Helpers over IREE's MLIR bindings: building ops, copies, order and addresses."""
