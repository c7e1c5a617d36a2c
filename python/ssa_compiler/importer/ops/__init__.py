"""Ops that need more than their schema: questions, promotion, masks, library programs, calls of Python."""
