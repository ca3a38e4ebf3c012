"""How much memory the paper's blocks take for currents of their own (section 3)."""
