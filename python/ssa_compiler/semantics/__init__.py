"""What several layers know of ops and types: dtypes, Python's scalars, ops on copies, ignored functions."""
