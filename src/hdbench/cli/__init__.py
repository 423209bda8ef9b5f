"""The command line. It reads options, calls, and prints, but decides nothing."""
