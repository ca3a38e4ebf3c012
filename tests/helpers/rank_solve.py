"""A rank of `solve` to which something happens after its first checkpoint: python rank_solve.py REQUEST WHAT.

"killed": rank 1 is; "full": the disk of rank 1 is; "nothing" happens to none.
"""

import json
import os
import signal
import sys

from helpers.full_disk import full_disk
from repro.lbm.porous import results
from repro.lbm.porous.solve import Request, solved
from repro.parallel.ranks.world import world


def main(request: str, what: str) -> None:
    ranks, save, count = world(), results.pieces.save, 0

    def saving(*arguments) -> None:
        nonlocal count
        count += 1
        if count == 2 and ranks.rank == 1 and what == "full":
            with full_disk(2048):
                save(*arguments)
        elif count == 2 and ranks.rank == 1 and what == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            save(*arguments)

    results.pieces.save = saving
    solved(Request(**json.loads(request)), ranks)
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
