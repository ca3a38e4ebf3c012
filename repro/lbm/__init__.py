"""Lattice Boltzmann solvers: equations, boundary schemes, streaming strategies and the papers' cases.

Where a paper's section is:

    porous 2.1, equations 2.2 to 2.8    equilibrium.py (moments, equilibrium), collision.py (BGK, TRT), lattice.py
    porous 2.2, equations 2.9 to 2.11   mrt.py
    porous 2.3                          boundaries.py (schemes, extrapolation), streaming.py (bounce-back)
    porous 4.1(1)                       layout.py (structure of arrays, array of structures)
    porous 4.1(2)                       strategies/pull.py, push.py, split.py
    porous 4.1(3), figures 4.1, 4.2     strategies/shared_memory.py
    porous 4.2(2), 4.2(3)               cases.py; measured in repro/papers/porous/box
    porous 5.1                          porous/strategies/branches.py
    porous 5.2, figure 5.2, listing 2   porous/strategies/flag_word.py, porous/node.py (flag_kernel)
    porous 5.3, figure 5.3              porous/neighbour_list.py, porous/strategies/sparse.py
    porous 5.4                          media/spheres.py, porous/permeability.py; repro/papers/porous/media
    porous 2.4, equations 2.12 to 2.20  two_fluids/model.py, forces.py, collision.py
    porous 6.1                          two_fluids/strategies/dense.py, sparse.py, node.py
    swap 1.2, algorithm 1               strategies/swap/rule.py (rotate, sweep_kernel), strategies/swap/sweep.py
    swap 2.1                            strategies/swap/rays.py
    swap 2.2, 2.3, tables 3 and 4       strategies/swap/types.py, rule.py (Source, make_source);
                                        repro/papers/swap/tables.py
    swap 3                              repro/papers/swap/hybrid.py, iteration.py

Not in the papers: strategies/esoteric_pull.py, strategies/swap/links.py, porous/strategies/sparse_in_place.py.
"""
