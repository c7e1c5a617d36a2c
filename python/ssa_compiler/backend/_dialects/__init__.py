"""Python modules of the dialects for which IREE's wheel has none.

MLIR's bindings import the module of an op's dialect when they show an op, and where there is none they look for it again for
every op. Ours are empty: ops of these dialects are generic `ir.Operation`s to us.
"""
