"""What the papers claim, what was measured, and the verdict."""
