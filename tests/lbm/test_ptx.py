"""What the GPU's compiler makes of the kernels, looked at without a GPU."""

from functools import cache

from helpers.toolkit import ptx_of

from repro.lbm.lattice import LATTICES
from repro.lbm.porous.strategies import STRATEGIES as POROUS_STRATEGIES
from repro.lbm.strategies import IN_HALF, STRATEGIES
from repro.lbm.two_fluids.strategies import STRATEGIES as TWO_FLUIDS

OTHER = {"half": "double", "single": "double", "double": "single"}


@cache
def every_kernel() -> list[dict]:
    """The kernels of all kinds, from one process: most of its time goes into its start."""
    return ptx_of("lbm_ptx", "boxes", "porous", "swaps", "halves", "fluids")


def kernels_of(kind: str, strategies) -> list[dict]:
    """The kernels of all flows of a kind, which is each strategy in each of its cases.

    All are for the H200, keep their scratch in registers and compute in the one precision that was asked for.
    """
    kernels = [kernel for kernel in every_kernel() if kernel["kind"] == kind]
    for case in {(kernel["case"], kernel["precision"]) for kernel in kernels} if kind != "fluids" else [None]:
        here = {k["strategy"] for k in kernels if case in (None, (k["case"], k["precision"]))}
        assert here == set(strategies)
    wrong = [k for k in kernels if k["local"] or k[OTHER[k["precision"]]] or not k["target"].startswith("sm_90")]
    assert not wrong, "\n".join(map(str, wrong))
    return kernels


def test_kernels_keep_their_scratch_in_registers_compute_in_one_precision_and_read_each_population_once():
    kernels, wrong = kernels_of("boxes", STRATEGIES), []
    assert {kernel["case"] for kernel in kernels} == {*LATTICES, "obstacles"}
    for kernel in kernels:
        exchanges = kernel["kernel"] == "exchange"
        in_blocks = kernel["strategy"] == "shared memory" and kernel["kernel"] == "update"
        laws = {
            "computes in the precision that was asked for": exchanges or kernel[kernel["precision"]] > 0,
            "uses shared memory where the strategy says so": kernel["shared"] == in_blocks,
            "synchronises where the strategy says so": (kernel["barriers"] > 0) == in_blocks,
        }
        if (case := kernel["case"]) in LATTICES:
            # the address is chosen, not the load: a wall costs no second access
            laws["reads each population once"] = exchanges or kernel["loads"] == LATTICES[case].q
        name = f"{case}, {kernel['precision']}, {kernel['strategy']}, {kernel['kernel']}"
        wrong += [f"{name}: not true that it {law}" for law, holds in laws.items() if not holds]
    assert not wrong, "\n".join(wrong)
    # an obstacle costs a look at its mark
    names = ("obstacles", "push", "update")
    loads = [k["loads"] for k in kernels if (k["case"], k["strategy"], k["kernel"]) == names]
    assert loads == [9 + 1]


def test_kernels_for_porous_media_keep_their_scratch_in_registers_and_compute_in_one_precision():
    kernels = kernels_of("porous", POROUS_STRATEGIES)
    # nineteen populations, and a word and a distance for each place once, although places are used twice
    loads = [k["loads"] for k in kernels if k["kernel"] == "exchange"]
    assert loads == [19 + 2 * 18] * 3


def test_kernels_that_stream_by_swaps_keep_their_scratch_in_registers_and_compute_in_one_precision():
    kernels = kernels_of("swaps", ["swap links", "swap rays", "swap types", "esoteric pull"])
    for precision in ("single", "double"):
        loads = {(k["strategy"], k["kernel"]): k["loads"] for k in kernels if k["precision"] == precision}
        # two places a link, nineteen populations a node, none twice
        assert loads["swap links", "swap"] == 18
        assert loads["swap links", "update"] == loads["swap types", "take"] == loads["esoteric pull", "update"] == 19


def test_kernels_that_keep_half_precision_keep_their_scratch_in_registers_and_compute_in_single():
    kernels = kernels_of("halves", IN_HALF)
    # a pair of nodes takes nineteen words, as one takes nineteen numbers
    assert {(k["strategy"], k["loads"]) for k in kernels if k["kernel"] == "update"} == {(name, 19) for name in IN_HALF}


def test_kernels_for_two_fluids_keep_their_scratch_in_registers_and_read_nothing_twice():
    kernels = kernels_of("fluids", TWO_FLUIDS)
    # the tiles alone share what they compute, and wait for it
    wrong = [
        k for k in kernels if {k["shared"], k["barriers"] > 0} != {k["strategy"] == "tiled" and k["kernel"] == "update"}
    ]
    assert not wrong, "\n".join(map(str, wrong))
    loads = {(k["strategy"], k["kernel"]): k["loads"] for k in kernels}
    populations, sources, neighbours = 2 * 19, 18, 2 * 18
    assert loads["dense", "potentials"] == populations
    assert loads["dense", "update"] == populations + neighbours
    assert loads["sparse", "potentials"] == populations + sources
    assert loads["sparse", "update"] == populations + sources + neighbours
    # once for the densities of the tile and its rim, once for the collision
    assert loads["tiled", "update"] == 2 * populations
