"""The abstract domain: values, symbolic sizes, the heap, and how two states are joined."""
