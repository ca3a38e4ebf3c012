"""From a run into the checkout."""
