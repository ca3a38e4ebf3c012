"""How fast the solvers are on several ranks: weak and strong scaling, measured and predicted from bytes."""
