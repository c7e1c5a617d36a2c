"""No Python classes for the ops of this dialect."""
