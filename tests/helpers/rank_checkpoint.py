"""A rank that goes on from a checkpoint, in plain Python: nothing is compiled.

python rank_checkpoint.py CHECKPOINT STEPS NEXT_CHECKPOINT
"""

import sys

from helpers.plain import PlainDevice
from repro.parallel.ranks import world
from repro.pic.checkpoint import load, save


def main(path: str, steps: str, target: str):
    ranks = world()
    simulation = load(path, PlainDevice(), ranks=ranks)
    simulation.step(int(steps))
    save(simulation, target)
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
