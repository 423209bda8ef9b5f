"""The work list of a decision as a spreadsheet that people fill in, and that is read again."""
