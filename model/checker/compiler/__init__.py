"""Compiles a model for given bounds: from the source that the interpreter runs to machine code, by way of LLVM."""
