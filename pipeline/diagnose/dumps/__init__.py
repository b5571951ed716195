"""Dumps of topics and tables of groups: texts, segments, REST replies to facts."""
