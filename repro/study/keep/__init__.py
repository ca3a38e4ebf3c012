"""What a notebook hands over, what that depends on, and whether it was touched."""
