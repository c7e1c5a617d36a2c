"""Torch-dialect IR: building it, the schemas of its ops, and the user's source lines."""
