"""The editor of ground truths in the Space, for those who have an account."""
