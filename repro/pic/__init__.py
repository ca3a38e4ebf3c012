"""Electrons in their own electromagnetic field, in vacuum and in air (particle in cell).

Where a section of the electrons paper is:

    2, Maxwell's equations               maxwell/yee.py; open space: maxwell/absorbing.py
    2, equations of motion               motion/push.py (helix), advance.py (kicked), gather.py (fields at a particle)
    2, segments, the time to a face      motion/segment.py; one after the other in advance.py (follow)
    2, current of a segment              deposition.py
    2, collisions, the time to one       air/transport.py, collisions.py, collision_tables.py
    2, processes                         air/processes.py; elastic.py, ionisation.py, bremsstrahlung.py
    2, slow electrons                    air/electron_loss.py, which says why no run has it
    2, secondaries to the unprocessed    strategies/domains_in_air.py
    2, source                            particle_source.py
    3, figure 1, domains and pointers    strategies/domains.py (segment, take, settle)
    3, figure 1, baskets                 strategies/transfer_buffers.py, host_loop.py
    3, fields on the CPU                 maxwell/fields.py (Bus)
    3, processes of a node               subdomain.py, strategies/rank_exchange.py
    3, the test and its speed            cases.py, benchmark.py; repro/papers/electrons/speed

Not in the paper: strategies/batches.py, global_sums.py, tiles.py, warp_sums.py. In the paper's own strategy the body
that others call follow is advance (domains.py, domains_in_air.py), and HostLoop launches it.

From an equation to its launch there are at most four steps, which a test counts, each a function and who calls it:

    orbit       fly (motion/push.py) -> segment (motion/segment.py) -> follow (advance.py, air/transport.py) -> build
    face        fly -> land, find -> segment (motion/segment.py) -> follow -> build
    current     edge_weights -> deposit (deposition.py) -> follow -> build
    wall        charge (deposition.py) -> cross -> follow (advance.py) -> build
    in air      look_ahead (collision_tables.py) -> flight_of -> follow (air/transport.py) -> InAir
    collision   angle -> outcome (air/elastic.py) -> collide (air/collisions.py) -> follow (air/transport.py) -> InAir

In tiles.py there is one more, since the window of a block is around follow.

Names below are loaded when they are asked for.
"""

from repro.on_demand import names_on_demand

#: the public names of each module
_HOMES = {
    "air.collision_tables": "Collisions",
    "air.medium": "Air",
    "disk.checkpoint": "load save",
    "maxwell.fields": "courant_limit",
    "mesh": "Mesh",
    "observables": "field_energy kinetic_energy",
    "simulation": "Simulation",
    "strategies": "STRATEGIES baskets",
    "system": "Electrons Source System",
}

__all__ = " ".join(_HOMES.values()).split()

__getattr__ = names_on_demand(__name__, _HOMES)
