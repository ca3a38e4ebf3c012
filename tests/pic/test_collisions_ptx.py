"""What the GPU's compiler makes of collisions, looked at without a GPU."""

from helpers.toolkit import ptx_of


def test_collisions_keep_to_registers_leave_no_product_to_be_fused_and_are_single_throughout():
    fused, apart = ptx_of("collisions_ptx", "single")
    assert fused["fuse"] is not apart["fuse"]
    for kernel in (fused, apart):
        assert kernel["target"].startswith("sm_90")
        assert kernel["local"] == kernel["double"] == kernel["atomics"] == 0
    # a product that the compiler could fuse with a sum would round otherwise on a CPU
    assert fused["fused"] == apart["fused"] > 50
