"""Why a run came to no rest, read off its last events: who waits for which reply, what repeats, who owned what last."""
