"""Measures which operators compile: PyTorch's operator database through `compile`, against eager (docs/Coverage.md)."""
