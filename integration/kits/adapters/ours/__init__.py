"""Our own client as a ready client, which can be asked for one deliberate mistake (``--slip NAME``)."""
