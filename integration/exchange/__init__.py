"""Between clients and a broker, the embedded one or any other: frames are recorded here, and faults injected."""
