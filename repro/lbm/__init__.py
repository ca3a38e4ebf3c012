"""Lattice Boltzmann: boxes with obstacles, flow through pores, and two fluids; the papers `porous` and `swap`.

Where a section is:

    porous 2.1, equations 2.1 to 2.8    plain.py (as printed), equilibrium.py (moments, equilibrium), collision.py
                                        (BGK, TRT), lattice.py
    porous 2.2, equations 2.9 to 2.11   plain.py (as printed), mrt.py
    porous 2.3                          boundaries.py (schemes, extrapolation), streaming.py (bounce-back)
    porous 2.4, equations 2.12 to 2.20  two_fluids/model.py, forces.py, collision.py
    porous 3, listing 1                 repro/parallel (devices and launches); repro/papers/porous/gpu
    porous 4.1(1)                       layout.py (structure of arrays, array of structures)
    porous 4.1(2)                       strategies/pull.py, push.py, split.py
    porous 4.1(3), figures 4.1, 4.2     strategies/shared_memory.py
    porous 4.2(1)                       benchmark.py; repro/papers/porous/box/speed.py
    porous 4.2(2), 4.2(3)               cases.py; measured in repro/papers/porous/box
    porous 5.1                          porous/strategies/branches.py
    porous 5.2, figure 5.2, listing 2   porous/strategies/flag_word.py, porous/node.py (flag_kernel)
    porous 5.3, figure 5.3              porous/neighbour_list.py, porous/strategies/sparse.py
    porous 5.4                          media/spheres.py, porous/permeability.py; repro/papers/porous/media
    porous 6.1                          two_fluids/strategies/dense.py, sparse.py
    porous 6.2                          two_fluids/cases.py, observables.py, exact.py
    porous 6.3                          two_fluids/cases.py (Mixture), wetting.py, media
    porous 6.4                          two_fluids/benchmark.py; repro/papers/porous/two_fluids/speed.py
    swap 1.1, table 1                   repro/papers/swap/palabos.py, claims.py (share)
    swap 1.2, algorithm 1, table 2      strategies/swap/rule.py (pairs_of, make_rotate, sweep_kernel), sweep.py
    swap 2.1                            strategies/swap/rays.py
    swap 2.2, 2.3, tables 3 and 4       strategies/swap/types.py, rule.py (Source, make_source);
                                        repro/papers/swap/tables.py
    swap 3                              repro/papers/swap/palabos.py, hybrid.py, iteration.py

Not in the papers: obstacles in a box (node.py, make_wall_rules), strategies/esoteric_pull.py and paired_pull.py,
strategies/swap/links.py, porous/strategies/sparse_in_place.py, two_fluids/strategies/tiled.py;
a box on several ranks (ranks.py, subdomain.py), images in slabs (media/slabs.py), flows on disk in pieces (pieces.py),
and the command `solve` (porous/solve.py).

From an equation to a launch: equilibrium.py -> collision.py -> node.py (the update of a node) -> a file of strategies/;
of two fluids without node.py; at most four functions, which a test counts. Lattice, faces and solid are arguments of
all three kinds of flow: faces around pores and two fluids are periodic or closed, those of a box may also move
(model.py, Problem and InPores).
Names below are loaded when they are asked for.
"""

from repro.on_demand import names_on_demand

#: the public names of each module
_HOMES = {
    "boundaries": "Boundaries",
    "cases": "Cavity CubicCavity Duct",
    "lattice": "D2Q9 D3Q15 D3Q19",
    "media": "PoreSpace read_image",
    "model": "Model Problem",
    "porous.permeability": "flow_through in_units",
    "porous.problem": "PorousProblem",
    "porous.simulation": "PorousFlow",
    "simulation": "Simulation",
    "two_fluids.cases": "Bubble Drop Layers Mixture",
    "two_fluids.model": "TwoFluids",
    "two_fluids.observables": "bubble_state contact_angle",
    "two_fluids.simulation": "TwoFluidFlow",
    "two_fluids.wetting": "wetting",
}

__all__ = " ".join(_HOMES.values()).split()

__getattr__ = names_on_demand(__name__, _HOMES)
