"""What the GPU's compiler makes of the kernels, looked at without a GPU."""

import pytest
from helpers.toolkit import ptx_of

from repro.dpd.strategies import STRATEGIES


@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_keep_to_registers_and_to_one_precision_and_add_atomically_where_they_must(precision):
    kernels = ptx_of("dpd_ptx", precision)
    by_hand, kernels = ([k for k in kernels if k["fuse"] is fuse] for fuse in (False, True))
    if precision == "single":
        # a product that the compiler could fuse with a sum would round otherwise on a CPU
        fused = {k["kernel"]: k["fused"] for k in kernels if k["strategy"] == "sorted cells"}
        assert fused == {k["kernel"]: k["fused"] for k in by_hand}
        assert fused["forces"] > 10
    # four sums in double precision, of numbers to be widened and in the end to be rounded off
    both = [name for name in STRATEGIES if STRATEGIES[name].TRAITS.both_sides]
    sums = dict.fromkeys(both, 20) if precision == "single" else {}
    other = "double" if precision == "single" else "single"
    few = {id(k): sums.get(k["strategy"], 0) if k["kernel"] == "forces" else 0 for k in kernels}
    wrong = [k for k in kernels if k["local"] or k[other] > few[id(k)] or not k["target"].startswith("sm_90")]
    assert not wrong, "\n".join(map(str, wrong))
    forces = {k["strategy"]: k for k in kernels if k["kernel"] == "forces"}
    assert set(forces) == {name for name in STRATEGIES if "cuda" in STRATEGIES[name].TRAITS.devices}
    # three components of two particles, and the virial of one; no other thread writes where each pair is met twice
    atomics = {name: 0 if STRATEGIES[name].TRAITS.both_sides else 7 for name in forces}
    assert {name: k["atomics"] for name, k in forces.items()} == atomics
    assert {name for name, k in forces.items() if k["shared"]} == {
        name for name in forces if STRATEGIES[name].TRAITS.shared_words
    }
