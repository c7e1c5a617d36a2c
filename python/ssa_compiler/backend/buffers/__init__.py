"""Where a tensor gets memory of its own, and where an update may reuse that of its operand."""
