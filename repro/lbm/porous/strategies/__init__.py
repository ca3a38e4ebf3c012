"""Ways of keeping and finding populations in a porous medium, one a file (porous paper, sections 5.1 to 5.3).

Each module has `build(problem, device, dtype, block) -> Scheme` and `COST`.
"""

from . import branches, flag_word, sparse, sparse_in_place

STRATEGIES = {
    "branches": branches,
    "flag word": flag_word,
    "sparse": sparse,
    "sparse in place": sparse_in_place,
}
