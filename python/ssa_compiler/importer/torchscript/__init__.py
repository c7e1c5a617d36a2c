"""From what the user passes to TorchScript graphs that leave out nothing of what eager does."""
