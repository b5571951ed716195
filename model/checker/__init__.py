"""The model checker: specification, layout of states, interpreter, safety and liveness."""
