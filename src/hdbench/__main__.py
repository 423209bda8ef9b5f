"""`python -m hdbench`."""

from hdbench.cli import main

main()
