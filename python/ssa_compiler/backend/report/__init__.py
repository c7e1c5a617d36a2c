"""Counting what a compiled program does: copies, fills, dispatches."""
