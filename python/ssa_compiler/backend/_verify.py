"""Run iree-compile as far as the stream dialect and check what it decided to do in place.

Also counts the copies of that IR, which is how a benchmark or a test sees that a loop is in place.
"""
