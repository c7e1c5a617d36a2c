"""Programs with graph breaks: what cannot be compiled as a whole is compiled in fragments, and Python runs the rest.

A *fragment* is a run of statements of one function, compiled as a program of its own, with the variables that it reads
as arguments and those that are read later as results. A *graph break* is a statement between fragments that Python
runs. Both are found by compiling: the line that a rejection names becomes a graph break, what stands before and after
it, and the blocks inside it, are tried for themselves.

- `liveness`: which variables are read later, and which are surely assigned.
- `sources`: functions as syntax trees with the lines of their files; fragments as functions.
- `paths`: attributes of the user's objects as variables.
- `splitting`: the statements of a function as fragments and graph breaks.
- `unit`: a function or fragment when it is called; `variants`: what it was compiled to.
- `functions`: the functions that graph breaks call, and the table of all.
- `fragmented_program`: what `compile` returns.
"""
