"""Emitting ops on tensors and scalars: views, writes, indexing, overlap."""
