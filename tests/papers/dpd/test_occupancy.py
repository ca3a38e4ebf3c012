"""Theoretical occupancy of a multiprocessor."""

from types import SimpleNamespace

import pandas as pd
import pytest
from helpers.judging import by_statement

from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.strategies.sorted_cells import WORDS
from repro.errors import DeviceError, InputError
from repro.papers.dpd.memory_and_launch import occupancy as launch
from repro.parallel import Speed, Timing
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict


def test_what_is_tried_fits_into_registers_and_shared_memory():
    sizes = [32, 128, 384, 512, 1024]
    assert launch.launches("particle", sizes, [32], 128) == [*((size, None) for size in sizes), (128, 32)]
    # four bytes for each of the particles that a thread lists, and 48 KiB a block
    assert 4 * 2 * WORDS * 384 == launch.MOST_STATIC_SHARED == 49152
    assert [block for block, _ in launch.launches("sorted cells", sizes, [], 128)] == [32, 128, 384]
    # a multiprocessor has 65536 registers, and a thread takes 255 at most
    for block in (*sizes, 256, 320):
        assert block * (launch.limit_needed(block) or 255) <= 65536
    assert [launch.limit_needed(block) for block in (32, 256, 288, 1024)] == [None, None, 227, 64]
    with pytest.raises(InputError, match="choose one of 32, 128"):
        launch.launches("particle", sizes, [32], 512)


def _launched(rows, **more) -> pd.DataFrame:
    """A table of launches (strategy, block, limit, seconds of each run, occupancy), with other columns `more`."""
    table = pd.DataFrame(rows, columns=["strategy", "block", "limit", "runs", "occupancy"])
    more = {"registers": 72, "local": 0} | more
    return table.assign(seconds=[sorted(runs)[1] for runs in table["runs"]], **more)


#: without a limit, with one that gains, one that loses, one that does not raise the occupancy, and another size
_LIMITS = [
    ("particle", 128, 0, (6.0, 6.1, 6.0), 0.4),
    ("particle", 128, 64, (5.0, 5.0, 5.2), 0.5),
    ("particle", 128, 32, (8.0,) * 3, 1.0),
    ("particle", 128, 128, (5.0,) * 3, 0.4),
    ("particle", 512, 96, (1.0,) * 3, 0.6),
]


def test_the_gain_by_a_limit_compares_it_with_none_at_one_size_of_the_block_run_by_run():
    found = launch.gains_by_limits(_launched(_LIMITS), 128).set_index("limit")
    assert list(found.index) == [64, 32, 128]
    assert found.loc[64, "gains"] == pytest.approx((1.2, 1.22, 6 / 5.2))
    assert (found.loc[64, "registers before"], found.loc[64, "occupancy before"]) == (72, 0.4)
    # a gain within the distance of the runs is none
    assert (found.loc[64, "faster"], found.loc[32, "faster"]) == ((True,) * 3, (False,) * 3)
    # of either launch, whichever of the two scatters more
    for free, limited in (
        ((5.0, 5.2, 5.0), (4.9, 4.9, 5.1)),
        ((5.0, 5.5, 5.0), (4.8,) * 3),
        ((5.0,) * 3, (4.9, 4.2, 4.9)),
    ):
        close = [("sorted cells", 128, 0, free, 0.4), ("sorted cells", 128, 64, limited, 0.5)]
        assert launch.gains_by_limits(_launched(close), 128)["faster"].iloc[0] == (False, True, False)


def test_only_limits_that_raise_the_occupancy_count_and_mostly_they_gain_nothing():
    claim = claims.load("dpd")["dpd-064"]
    limited = launch.gains_by_limits(_launched(_LIMITS), 128)
    assert launch.share_that_gains(limited) == {"measured": 50.0, "scatter": 0.0}
    most = launch.gains_by_limits(_launched([row for row in _LIMITS if row[2] != 32]), 128)
    for found, verdict in ((limited, Verdict.REPRODUCED), (most, Verdict.NOT_REPRODUCED)):
        assert by_statement(claim, Evidence(**launch.share_that_gains(found))) is verdict
    with pytest.raises(InputError, match="no limit of registers raises the occupancy"):
        launch.share_that_gains(limited[limited["limit"] == 128])


def test_a_launch_is_listed_with_what_its_kernel_takes_and_the_seconds_of_each_run(monkeypatch):
    timings = [Timing(seconds, seconds, 0.01, 5) for seconds in (3.0, 2.0, 4.0)]
    more = {"strategy": "sorted cells", "precision": "single", "size": "", "check": "", "work": {}}
    took, gpu = (
        {"registers": 64, "local": 0, "shared": 0, "occupancy": 0.5},
        SimpleNamespace(name="cuda", description=""),
    )

    asked = []

    def speed(case, system, device, *, runs, **options):
        asked.append((system, device, options))
        return Speed.of("", device, timings[:runs], **more, choices=took)

    monkeypatch.setattr(launch, "_launch_speed", speed)
    monkeypatch.setattr(launch, "reference_forces", lambda system, rounds: f"of {system}, {rounds} rounds")
    kept = []
    record = SimpleNamespace(timing=lambda **row: kept.append(row))
    monkeypatch.setattr(launch, "KERNELS", ("sorted cells",))
    sizes = [(256, None), (512, None), (128, 64)]
    monkeypatch.setattr(launch, "launches", lambda *given: sizes if given == ("sorted cells", [1], [2], 256) else [])
    table = launch.launch_table("all", gpu, [1], [2], 256, record, seconds=0.1, runs=3)
    common = {"expected": f"of all, {PAPER_ROUNDS} rounds", "seconds": 0.1, "strategy": "sorted cells"}
    assert asked == [
        ("all", gpu, common | {"block": block, "registers": limit})
        for block, limit in ((256, None), (512, 128), (128, 64))
    ]
    row = table.iloc[0]
    assert (row["limit"], row["registers"], row["occupancy"]) == (0, 64, 0.5)
    # a larger block gets the limit with which it fits
    assert list(table["limit"]) == [0, 128, 64]
    # the block size that is compared is run three times, the others once
    assert list(table["runs"]) == [(3.0, 2.0, 4.0), (3.0,), (3.0,)]
    assert list(table["seconds"]) == [3.0] * 3
    assert [(timing["registers"], timing["occupancy"]) for timing in kept] == [(64, 0.5)] * 3


def test_what_a_kernel_takes_of_a_gpu_is_its_occupancy_and_its_registers(monkeypatch):
    """As its driver states it; where there is no GPU, or one that is simulated, nothing."""
    properties = {"maxThreadsPerMultiProcessor": 2048, "warpSize": 32, "maxBlocksPerMultiProcessor": 16}
    properties |= {"regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 49152}
    cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(id=3), runtime=SimpleNamespace(getDeviceProperties={3: properties}.get)
    )
    device = SimpleNamespace(
        name="cuda", simulated=False, xp=SimpleNamespace(cuda=cuda), resources=lambda launch: launch
    )
    assert launch.limits_here(device) == [64, 2048, 16, 65536, 255, 49152]
    forces = SimpleNamespace(parts={"forces": {"registers": 32}, "table": {"registers": 8}})
    monkeypatch.setattr(launch, "occupancy", lambda device, launch, block: launch["registers"] / block)
    assert launch.taken(device, forces, 128) == {"occupancy": 0.25, "registers": 32}
    assert launch.taken(SimpleNamespace(name="threads"), forces, 128) == {}
    device.simulated = True
    assert launch.taken(device, forces, 128) == {}


def test_the_simulator_has_no_registers_to_report(cuda_device):
    if not cuda_device.simulated:
        pytest.skip("for the simulator")
    with pytest.raises(DeviceError, match="no registers"):
        cuda_device.resources(None)


def test_the_limits_of_the_papers_gpu_are_those_that_it_states(threads):
    stated = [int(claims.load("dpd")[f"dpd-{number:03}"].value) for number in range(12, 18)]
    table = launch.limits_table(claims.find(launch.LIMITS), threads)
    assert list(table["paper, K20c"]) == stated
    assert list(table.columns) == ["at most", "paper, K20c"]


def test_the_limits_of_the_gpu_at_hand_stand_beside_the_papers_unless_it_is_simulated(monkeypatch):
    monkeypatch.setattr(launch, "limits_here", lambda device: [64, 2048, 32, 65536, 255, 233472])
    stated = claims.find(launch.LIMITS)
    gpu = SimpleNamespace(name="cuda", simulated=False, description="a newer GPU")
    table = launch.limits_table(stated, gpu).set_index("at most")
    assert table["a newer GPU"].tolist() == [64, 2048, 32, 65536, 255, 233472]
    assert table.index[0] == stated["dpd-012"].quantity.removesuffix(" max")
    simulator = SimpleNamespace(name="cuda", simulated=True, description="a simulator")
    assert "a simulator" not in launch.limits_table(stated, simulator)


def test_the_occupancy_is_the_drivers_count_of_blocks(monkeypatch):
    from numba import cuda

    asked = []
    context = SimpleNamespace(get_active_blocks_per_multiprocessor=lambda *a: asked.append(a) or 5)
    monkeypatch.setattr(cuda, "current_context", lambda: context, raising=False)
    monkeypatch.setattr(launch, "limits_here", lambda device: [64])
    kernel = SimpleNamespace(_codelibrary=SimpleNamespace(get_cufunc=lambda: "code"))
    device = SimpleNamespace(kernel_of={"a launch": kernel}.get)
    # 5 blocks of three warps, the last of which is not full
    assert launch.occupancy(device, "a launch", 96) == launch.occupancy(device, "a launch", 70) == 15 / 64
    assert asked == [("code", 96, 0), ("code", 70, 0)]


def test_the_share_that_gains_is_that_of_the_limits_in_per_cent_run_by_run():
    """Of four limits three gain in the first run, two in the second and three in the third."""
    faster = [(True, True, True), (True, True, True), (True, False, True), (False, False, False)]
    limited = pd.DataFrame({"occupancy": 0.5, "occupancy before": 0.25, "faster": faster})
    assert launch.share_that_gains(limited) == {"measured": 75.0, "scatter": 25.0}
