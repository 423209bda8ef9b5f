"""Runs on several processes or machines, started by the executors of datatrove."""
