"""What the GPU's compiler makes of the kernels, looked at without a GPU."""

import pytest
from helpers.toolkit import ptx_of

from repro.pic.strategies import STRATEGIES


# all strategies have the same formulas, so one is enough for the other precision
@pytest.mark.parametrize(("precision", "names"), [("single", ()), ("double", ("global sums",))])
def test_kernels_keep_to_registers_and_leave_no_product_to_be_fused(precision, names):
    kernels = ptx_of("pic_ptx", precision, *names)
    every = {name for name, way in STRATEGIES.items() if "cuda" in way.on}
    assert {k["strategy"] for k in kernels} == (set(names) or every)
    assert {k["kernel"] for k in kernels} >= {"follow", "inject", "magnetic_body", "electric_body", "scatter"}
    if not names:
        assert {k["kernel"] for k in kernels if k["strategy"] == "baskets"} >= {"advance", "find_ends", "add_blocks"}
        assert {k["air"] for k in kernels if k["kernel"] == "advance"} == {False, True}
    wrong = [k for k in kernels if k["local"] or not k["target"].startswith("sm_90")]
    assert not wrong, "\n".join(map(str, wrong))
    # a product that the compiler could fuse with a sum would round otherwise on a CPU
    fused = "fused" if precision == "single" else "fused in double"
    by_compiler, by_hand = ([_fused(k, fused) for k in kernels if k["fuse"] is fuse] for fuse in (True, False))
    assert sorted(by_compiler) == sorted(by_hand)
    # nor could the assembler; collisions have not been written for that yet
    assert not [k for k in kernels if k["fusible"] and not k["air"]]
    assert max(k[fused] for k in kernels if k["kernel"] == "follow") > 100
    if precision == "single":
        # but for sums of currents, which are whole numbers, on their way into the field
        assert {k["kernel"] for k in kernels if k["in double"]} <= {"electric_body"}


def _fused(kernel, precision):
    return kernel["strategy"], kernel["air"], kernel["kernel"], kernel[precision]
