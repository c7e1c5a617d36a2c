"""Walking TorchScript graphs: blocks, branches, loops and calls."""
