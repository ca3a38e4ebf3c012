"""A rank that goes on from a checkpoint, in plain Python: nothing is compiled.

python rank_checkpoint.py CHECKPOINT STEPS NEXT_CHECKPOINT OPENPMD_FILE
"""

import sys

from helpers.plain import PlainDevice
from repro.parallel.ranks.world import world
from repro.pic.disk.checkpoint import load, save
from repro.pic.disk.openpmd import write


def main(path: str, steps: str, target: str, fields: str):
    ranks = world()
    simulation = load(path, PlainDevice(), ranks=ranks)
    simulation.step(int(steps))
    save(simulation, target)
    write(simulation, fields)
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
