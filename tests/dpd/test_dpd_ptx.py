"""What the GPU's compiler makes of the kernels, looked at without a GPU."""

import pytest
from helpers.toolkit import ptx_of

from repro.dpd.strategies import STRATEGIES


@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_keep_to_registers_and_to_one_precision_and_add_atomically_where_they_must(precision):
    kernels = [k for k in ptx_of("dpd_ptx", precision) if not k["ranks"]]
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
    # and nine of each where threads share the rows of a particle
    few = {id(k): {"forces": sums.get(k["strategy"], 0), "add_rows": 80}.get(k["kernel"], 0) for k in kernels}
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


@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_a_rank_are_those_of_one_rank_and_what_they_exchange_stays_in_registers(precision):
    kernels = [k for k in ptx_of("dpd_ptx", precision) if k["strategy"] == "sorted cells" and k["fuse"]]
    here, alone = ({k["kernel"]: k for k in kernels if k["ranks"] is several} for several in (True, False))
    for name in ("drift", "forces", "kick"):
        assert here[name] | {"ranks": False} == alone[name]
    moved = {name: k for name, k in here.items() if name not in alone}
    assert {"send", "arrive"} < set(moved)
    other = "double" if precision == "single" else "single"
    for kernel in moved.values():
        assert (kernel["local"], kernel[other], kernel["target"][:5]) == (0, 0, "sm_90")
