"""The process that compiles: forks, interrupts, children, logs, versions."""
