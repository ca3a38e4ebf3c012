"""A body force in the collision.

Both schemes add w_i [3 (c_i - u) + 9 (c_i . u) c_i] . F, whose zeroth moment is 0, first F and second u F + F u:

- "luo": as it stands, with u = sum_i c_i f_i / density in the equilibrium (Luo, Phys. Rev. E 62 (2000) 4982, the
  second-moment form of the porous paper, section 5.4);
- "guo": times 1 - 1/(2 tau), with u shifted by F/(2 density) (Guo, Zheng, Shi, Phys. Rev. E 65 (2002) 046308).

So one number tells them apart: the share of the force in the velocity of the equilibrium. The part of the term that
is even in c_i is w_i [(3 c_i . u)(3 c_i . F) - 3 u . F], the odd part w_i 3 c_i . F.
"""

VELOCITY_SHARE = {"luo": 0.0, "guo": 0.5}
