"""Lists, tuples, dicts and objects."""
