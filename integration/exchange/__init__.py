"""Between clients and brokers: frames are recorded here, and faults injected, at the embedded broker and at any other."""
