"""The command line: one small file per command, arguments and tables only."""
