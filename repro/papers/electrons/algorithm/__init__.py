"""Figure 1 of the paper as a walk: domains, pointers and baskets, launch by launch (section 3)."""
