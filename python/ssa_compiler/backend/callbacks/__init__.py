"""Ops that run in PyTorch from inside the compiled program, and dtypes that only they compute with."""
