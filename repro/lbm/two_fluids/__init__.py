"""Two fluids in a porous medium: Shan-Chen with explicit forcing (porous paper, section 2.4 and chapter 6)."""
