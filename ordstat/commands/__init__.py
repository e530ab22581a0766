"""The command line: one file a command, each a line of `main.COMMANDS`."""
