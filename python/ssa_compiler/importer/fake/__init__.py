"""Running an op without its data, to see what it consists of, what it returns and what it raises."""
