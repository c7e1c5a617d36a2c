"""One import from end to end: arguments, results, and what the caller sees changed."""
