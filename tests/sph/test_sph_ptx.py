"""What the GPU's compiler makes of the kernels, looked at without a GPU."""

from helpers.toolkit import ptx_of

from repro.sph.simulation import DENSITIES
from repro.sph.strategies import STRATEGIES

#: kernels that sum over neighbours, in double precision
SUMS = {"particle_sums", "listed_sums", "row_sums", "row_total", "extrapolate"}


def test_kernels_keep_to_registers_leave_no_product_to_be_fused_and_widen_only_their_sums():
    kernels = ptx_of("sph_ptx", "single")
    assert {k["strategy"] for k in kernels} == set(STRATEGIES)
    assert {k["density"] for k in kernels} == set(DENSITIES)
    assert {k["kernel"] for k in kernels} >= SUMS | {"drift", "kick", "_move", "bring"}
    wrong = [k for k in kernels if k["local"] or not k["target"].startswith("sm_90")]
    wrong += [k for k in kernels if k["double"] and k["kernel"] not in SUMS]
    assert not wrong, "\n".join(map(str, wrong))
    # a product that the compiler could fuse with a sum would round otherwise on a CPU
    by_compiler, by_hand = ([(k["kernel"], k["fused"]) for k in kernels if k["fuse"] is fuse] for fuse in (True, False))
    assert by_compiler == by_hand
    for sums in ("particle_sums", "listed_sums", "row_sums"):
        assert max(fused for name, fused in by_hand if name == sums) > 20
    # places in a cell are counted and lists are linked by atomic operations, and nothing else
    assert {k["kernel"] for k in kernels if k["atomics"]} == {"assign", "link"}
