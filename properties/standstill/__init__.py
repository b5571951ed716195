"""Why a run came to no rest, read off its last events: missing replies, repeated steps, the last owners."""
