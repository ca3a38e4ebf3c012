"""The state of a run on disk: checkpoints, and files that other programs read."""
