"""The experiments of each paper: what its notebooks call. One folder a paper, in it one folder a group of notebooks."""
