"""Safe status writes: what a status store owes its readers, as claims about events (``KafkaStatusBackingStore``).

Soundness (S1-S8): the store does what it says: its cache is what it read, it suppresses what it must and only that, it
retries what it may, it repeats itself byte for byte. Safety (P1-P7): what follows for the log, with the window that no
check can close made explicit: check and append are not atomic, so a safe write may still overwrite a newer status, but
only one that its writer had not read. A test says which race explains such an overwrite; one that none explains is
a bug. P8 is progress: a write comes to rest.

The folds derive each store's cache again from what it read; they share no line with any implementation.
"""
