"""What an import keeps away from: the state of the user's process, and modules of PyTorch that take long to load."""
