"""One file a competitor, each giving Contestants of the same form."""
