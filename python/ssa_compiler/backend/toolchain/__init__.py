"""Running iree-compile: targets, attempts, what fails, and what is kept on disk."""
