"""What the GPU's compiler makes of the kernels, looked at without a GPU."""

import pytest
from helpers.toolkit import ptx_of

from repro.lbm.lattice import LATTICES
from repro.lbm.porous.strategies import STRATEGIES as POROUS_STRATEGIES
from repro.lbm.strategies import STRATEGIES
from repro.lbm.two_fluids.strategies import STRATEGIES as TWO_FLUIDS


@pytest.mark.parametrize(("lattice", "precision"), [(name, "single") for name in LATTICES] + [("D2Q9", "double")])
def test_kernels_keep_their_scratch_in_registers_compute_in_one_precision_and_read_each_population_once(
    lattice, precision
):
    kernels, wrong = ptx_of("lbm_ptx", lattice, precision), []
    assert {kernel["strategy"] for kernel in kernels} == set(STRATEGIES)
    other = "double" if precision == "single" else "single"
    for kernel in kernels:
        exchanges = kernel["kernel"] == "exchange"
        in_blocks = kernel["strategy"] == "shared memory" and kernel["kernel"] == "update"
        laws = {
            "is for the H200": kernel["target"].startswith("sm_90"),
            "keeps its scratch in registers": kernel["local"] == 0,
            "computes in no other precision": kernel[other] == 0,
            "computes in the precision that was asked for": exchanges or kernel[precision] > 0,
            "uses shared memory where the strategy says so": kernel["shared"] == in_blocks,
            "synchronises where the strategy says so": (kernel["barriers"] > 0) == in_blocks,
            # the address is chosen, not the load: a wall costs no second access
            "reads each population once": exchanges or kernel["loads"] == LATTICES[lattice].q,
        }
        name = f"{kernel['strategy']}, {kernel['kernel']}"
        wrong += [f"{name}: not true that it {law}" for law, holds in laws.items() if not holds]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("collision", "precision"), [("bgk", "single"), ("mrt", "single"), ("mrt", "double")])
def test_kernels_for_porous_media_keep_their_scratch_in_registers_and_compute_in_one_precision(collision, precision):
    kernels = ptx_of("lbm_ptx", collision, precision)
    assert {kernel["strategy"] for kernel in kernels} == set(POROUS_STRATEGIES)
    other = "double" if precision == "single" else "single"
    wrong = [k for k in kernels if k["local"] or k[other] or not k["target"].startswith("sm_90")]
    assert not wrong, "\n".join(map(str, wrong))
    # nineteen populations, and a word and a distance for each place once, although places are used twice
    loads = [k["loads"] for k in kernels if k["kernel"] == "exchange"]
    assert loads == [19 + 2 * 18]


def test_obstacles_cost_no_local_memory_and_two_looks_at_the_mark():
    kernels = ptx_of("lbm_ptx", "obstacles", "single")
    assert {kernel["strategy"] for kernel in kernels} == set(STRATEGIES)
    assert not [k for k in kernels if k["local"] or k["double"]]
    loads = [k["loads"] for k in kernels if (k["strategy"], k["kernel"]) == ("push", "update")]
    assert loads == [9 + 2]


@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_that_stream_by_swaps_keep_their_scratch_in_registers_and_compute_in_one_precision(precision):
    kernels = ptx_of("lbm_ptx", "swaps", precision)
    other = "double" if precision == "single" else "single"
    wrong = [k for k in kernels if k["local"] or k[other] or not k["target"].startswith("sm_90")]
    assert not wrong, "\n".join(map(str, wrong))
    loads = {(k["strategy"], k["kernel"]): k["loads"] for k in kernels}
    # two places a link, nineteen populations a node, none twice
    assert loads["swap links", "swap"] == 18
    assert loads["swap links", "collide"] == loads["swap types", "take"] == loads["esoteric pull", "update"] == 19


def test_kernels_for_two_fluids_keep_their_scratch_in_registers_and_read_nothing_twice():
    kernels = ptx_of("lbm_ptx", "fluids")
    assert {k["strategy"] for k in kernels} == set(TWO_FLUIDS)
    other = {"single": "double", "double": "single"}
    wrong = [k for k in kernels if k["local"] or k[other[k["precision"]]] or not k["target"].startswith("sm_90")]
    # the tiles alone share what they compute, and wait for it
    wrong += [
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
