"""How ssa-compiler stands beside what a user would pick instead: `python -m benchmarks --help`, README.md in this
folder.
"""
