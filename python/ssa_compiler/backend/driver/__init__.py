"""From a module of the `iree` stage to a compiled and verified program."""
