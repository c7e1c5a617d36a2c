"""Programs and loops that are one native kernel (docs/Kernels.md)."""
