"""Why a run came to no rest, read off its last events: missing replies, steps that repeat, the last owner of each thing."""
