"""Checks of what iree-compile made: copies, accesses, waits, registers."""
