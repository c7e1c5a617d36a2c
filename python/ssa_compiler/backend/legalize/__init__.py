"""What IREE needs of control flow: arguments of loops, dynamic sizes that they carry, the order of effects."""
