"""`python -P -m hdbench`: without -P, Python imports what lies in the working folder."""

from hdbench.cli.app import main

main()
