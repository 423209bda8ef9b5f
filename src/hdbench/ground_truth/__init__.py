"""Reading ground truths as libraries, archives and projects have them."""
