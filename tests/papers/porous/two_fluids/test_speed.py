"""What the notebook on the speed of two fluids judges follows from its tables, whatever the numbers are."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from helpers.judging import by_statement

from repro.papers.porous.two_fluids import speed, speed_figures
from repro.parallel import select
from repro.study.judge.claims import find
from repro.study.judge.evidence import Evidence
from repro.study.notebooks import Project

DATA = Project.default().data
FIGURES = {number: speed.paper_points(DATA, number) for number in ("6.10a", "6.10b", "6.12")}


POROSITIES = dict(zip(speed.STRUCTURES.values(), (1.0, 0.7, 0.5), strict=True))


def table_of(speeds: dict, strategy: str = "sparse", porosity: float = 1.0) -> pd.DataFrame:
    """A table of speeds from {space: MLUPS}, with what the figures take besides."""
    table = pd.DataFrame({"space": list(speeds), "mlups": list(speeds.values())})
    table["mflups"] = porosity * table["mlups"]
    table = table.assign(strategy=strategy, bandwidth=616e6 * table["mflups"], hardware="made up", porosity=porosity)
    return table.assign(seconds=1.0, runs=[[1.0]] * len(table))


def paper_tables() -> list[pd.DataFrame]:
    """The paper's own figures as tables of `sparse`: layers, cubes, structures."""
    layers, cubes = (
        table_of({speed.name_of(int(side), n): mlups for side, mlups in FIGURES[number].itertuples(index=False)})
        for number, n in (("6.10a", 2), ("6.10b", 3))
    )
    return [layers, cubes, table_of(dict(FIGURES["6.12"].itertuples(index=False)))]


def verdicts(values: dict) -> dict[str, str]:
    """What the judge says of {claim: value}."""
    claims = find(values)
    return {claim: str(by_statement(claims[claim], Evidence(value))) for claim, value in values.items()}


def parted(**speeds) -> pd.DataFrame:
    """`step_parts` with made-up times: MFLUPS by strategy, on a device that copies 472e9 bytes a second."""
    rows = [
        {"strategy": name, "bytes": moved, "allowed": 472e3 / moved, "mflups": speeds[name]}
        for name, moved in (("dense", 472.0), ("sparse", 616.0), ("tiled", 304.0))
        if name in speeds
    ]
    table = pd.DataFrame(rows).assign(**{"densities (%)": 22.0, "by bytes (%)": 37.7})
    return table.assign(**{"roof (%)": 100 * table["mflups"] / table["allowed"], "spread (%)": 5.0})


def claims_of(layers, cubes, packed, rows=None, loss=70.0, claims=speed.ON_GPU) -> dict:
    """`gpu_claims` about some claims, with a made-up step and loss against one fluid."""
    lost = pd.DataFrame({"loss (%)": [loss, 90.0]})
    found = speed.gpu_claims(layers, cubes, packed, parted(sparse=600.0) if rows is None else rows, lost)
    return {claim: value for claim, value in found.items() if claim in claims}


def test_a_step_is_taken_apart_into_bytes_and_times_of_its_own(monkeypatch):
    """On a device that copies 616 MB a second; of a step the pass over the densities takes three of eight seconds."""
    monkeypatch.setattr(speed, "copy_bandwidth", lambda device: 616e6)
    asked = []

    def part_times(problem, device, **options):
        asked.append((problem.space.shape, device, options))
        return {"densities": 3.0, "collide and stream": 5.0}

    monkeypatch.setattr(speed, "part_times", part_times)
    monkeypatch.setattr(speed, "resources", lambda problem, device, *, strategy, block: {"registers": block})
    rows = [("sparse", 128, 0.5, 0.04, 0.6), ("dense", 64, 0.25, 0.02, 0.3)]
    timed = pd.DataFrame(rows, columns=["strategy", "block", "mflups", "spread", "roof"])
    space = speed.open_box(4, 3)
    found = speed.step_parts(timed, space, "here", 1.0).set_index("strategy")
    assert asked == [
        (space.shape, "here", {"seconds": 1.0, "strategy": strategy, "block": block})
        for strategy, block in (("sparse", 128), ("dense", 64))
    ]
    assert list(found.index) == ["sparse", "dense"]
    sparse = found.loc["sparse"]
    # so many bytes a pore by design
    assert (sparse["bytes"], sparse["allowed"]) == (616, 1.0)
    assert tuple(sparse[["mflups", "spread (%)", "roof (%)", "densities (%)"]]) == pytest.approx((0.5, 4, 60, 37.5))
    assert found["registers"].tolist() == [128, 64]
    # by design, see below
    assert found["by bytes (%)"].tolist() == pytest.approx([100 * 232 / 616, 100 * 160 / 472])


def test_speeds_by_side_have_the_side_of_their_own_box(monkeypatch):
    def timed(runs, record, *, measured, includes):
        assert includes == speed.INCLUDES
        return pd.DataFrame(
            [{"case": case, "nodes": problem.space.solid.size, **given} for case, problem, _, given in runs]
        )

    monkeypatch.setattr(speed.speeds, "speed_table", timed)
    table = speed.over_sides(2, [4, 8], ["dense", "sparse"], None, precision="double")
    assert table["side"].tolist() == [4, 8] * 2
    assert table["nodes"].tolist() == [16, 64] * 2
    assert table["strategy"].tolist() == ["dense"] * 2 + ["sparse"] * 2
    assert set(table["precision"]) == {"double"}


def test_the_papers_figures_are_read_as_they_are():
    assert list(FIGURES["6.10a"]["side"]) == [64, 128, 256, 512, 1024, 2048]
    assert FIGURES["6.10b"].set_index("side")["mlups"][100] == 80.3
    assert list(FIGURES["6.12"]["medium"]) == list(speed.STRUCTURES.values())


def test_the_papers_own_numbers_meet_its_claims_and_others_do_not():
    newer = dict.fromkeys(("porous-094", "porous-095"), "met by newer hardware")
    shown = dict.fromkeys(("porous-092", "porous-097"), "reproduced")
    assert verdicts(claims_of(*paper_tables(), claims=newer | shown)) == newer | shown
    layers, cubes, structures = paper_tables()
    slow = [table.assign(mflups=0.9 * table["mflups"]) for table in (layers, cubes)]
    found = verdicts(claims_of(*slow, structures.assign(mflups=59.0), claims=newer | shown))
    assert set(found.values()) == {"not reproduced"}


def test_claims_are_judged_by_the_papers_strategy():
    both = [pd.concat([table, table.assign(strategy="dense", mlups=1.0, mflups=1.0)]) for table in paper_tables()]
    assert claims_of(*both) == claims_of(*paper_tables())
    rows = parted(dense=900.0, sparse=600.0)
    rows.loc[rows["strategy"] == "dense", "densities (%)"] = 50.0
    found = claims_of(*paper_tables(), rows, loss=71.0, claims=("porous-090", "porous-091"))
    assert found == {"porous-090": 22.0, "porous-091": 71.0}
    assert set(verdicts(found).values()) == {"reproduced"}


def test_what_the_papers_figures_show_meets_the_claims_read_off_them():
    found = claims_of(*paper_tables(), loss=100 * (1 - 77 / 210), claims=("porous-139", "porous-143"))
    assert found == {"porous-139": pytest.approx(63.3, abs=0.1), "porous-143": pytest.approx(77.9 / 76.2)}
    assert verdicts({"porous-139": found["porous-139"]}) == {"porous-139": "reproduced"}
    assert verdicts({"porous-139": 50.0}) == {"porous-139": "not reproduced"}


def test_what_is_usual_is_the_lower_median_and_what_is_largest_that_of_a_cube():
    layers, cubes = (
        table_of({"64²": 10.0, "128²": 20.0, "256²": 60.0}),
        table_of({"30³": 12.0, "60³": 18.0, "90³": 55.0}),
    )
    packed = table_of({speed.NO_SOLID: 50.0, speed.SPHERES: 40.0, speed.BLOCKS: 20.0}, porosity=0.5)
    found = claims_of(layers, cubes, packed, loss=70.0)
    del found["porous-140"]
    shares = {"porous-090": 22, "porous-091": 70, "porous-139": 70, "porous-097": 60}
    assert found == pytest.approx(shares | {"porous-092": 20, "porous-094": 18, "porous-095": 55, "porous-143": 6})
    assert claims_of(cubes, layers, packed)["porous-094"] == 18


def test_structures_are_ordered_by_each_independent_run():
    layers, cubes, packed = paper_tables()
    packed = packed.assign(runs=[[1.0, 1.1, 0.9]] * 3)
    both = pd.concat([packed, packed.assign(strategy="dense", mflups=1.0)])
    found = claims_of(layers, cubes, both)["porous-140"]
    assert found[speed.NO_SOLID] == pytest.approx([79.1, 79.1 / 1.1, 79.1 / 0.9])
    assert list(found) == list(speed.STRUCTURES.values())


@pytest.mark.parametrize("nx", [1, 30, 64, 80, 130, 150, 180, 256, 2048])
def test_rows_are_cut_into_blocks_that_leave_fewest_threads_idle(nx):
    def threads(block):
        return -(-nx // block) * block

    assert threads(speed.block_of("dense", nx)) == min(map(threads, (64, 96, 128)))
    # of those that leave as few idle the largest
    assert speed.block_of("dense", nx) == max(
        b for b in (64, 96, 128) if threads(b) == min(map(threads, (64, 96, 128)))
    )
    # a list of pores has no rows, and tiles have their own
    assert speed.block_of("sparse", nx) == speed.block_of("tiled", nx) == 128


def test_the_flow_fields_are_as_large_and_as_open_as_they_are_asked_for():
    media = speed.structures([12, 10, 16], 0.7, 5.0, 2, seed=1)
    assert list(media) == list(speed.STRUCTURES.values())
    assert all(space.shape == (12, 10, 16) for space in media.values())
    assert media[speed.NO_SOLID].porosity == 1
    for name in (speed.SPHERES, speed.BLOCKS):
        assert media[name].porosity == pytest.approx(0.7, abs=0.01)


def test_a_layer_is_one_node_thick_and_nothing_pushes_the_fluids():
    assert speed.open_box(8, 2).shape == (8, 8, 1)
    assert speed.open_box(4, 3).shape == (4, 4, 4)
    assert speed.mixture(speed.open_box(8, 2)).accelerations == ((0.0, 0.0, 0.0),) * 2


def test_every_strategy_is_timed_in_every_space(monkeypatch):
    timed = []

    def measured(case, problem, device, *, strategy, block, seconds):
        timed.append((strategy, problem.space.shape, block))
        return SimpleNamespace(row={"case": case, "mlups": 1.0})

    monkeypatch.setattr(speed, "measure_speed", measured)
    table = speed.over_sides(2, [32, 64], ["dense", "sparse"], None, seconds=0.1)
    assert list(table["space"]) == ["32²", "64²"] * 2
    assert list(table["side"]) == [32, 64] * 2
    assert timed == [
        (name, (side, side, 1), block)
        for name, blocks in (("dense", (64, 64)), ("sparse", (128, 128)))
        for side, block in zip((32, 64), blocks, strict=True)
    ]


def test_the_baselines_are_a_loop_on_one_core_and_rows_on_one_and_on_all(monkeypatch):
    timed = []

    def measured(case, problem, device, *, strategy, **options):
        timed.append((case, device.name, device.lanes > 1, device.workers, strategy))
        return SimpleNamespace(row={"case": case, "mflups": 1.0})

    monkeypatch.setattr(speed, "measure_speed", measured)
    table = speed.cpu_baselines(speed.open_box(4, 3), seconds=0.1)
    assert list(table.index) == ["node by node", "rows", "rows, all cores"]
    assert timed == [
        ("node by node", "serial", False, 1, "dense"),
        ("rows", "threads", True, 1, "dense"),
        ("rows, all cores", "threads", True, select("threads").workers, "dense"),
    ]


def test_the_loss_is_that_against_one_fluid_in_the_same_space(monkeypatch):
    timed = []

    def measured(case, space, device, *, strategy, block):
        timed.append((strategy, space.shape))
        return SimpleNamespace(row={"case": case, "mflups": 100.0, "bandwidth": 224 * 100e6, "device": "made up"})

    monkeypatch.setattr(speed.one_fluid, "measure_speed", measured)
    monkeypatch.setattr(speed.speeds, "copy_bandwidth", lambda device: 44.8e9)
    cubes = table_of({"4³": 20.0, "6³": 30.0}).assign(side=[4, 6])
    spheres = speed.structures([8, 8, 8], 0.7, 4.0, 2, seed=1)[speed.SPHERES]
    lost = speed.losses(cubes, table_of({speed.SPHERES: 40.0}), spheres, None)
    assert timed == [("sparse", (6, 6, 6)), ("sparse", (8, 8, 8))]
    assert list(lost["space"]) == ["6³", speed.SPHERES]
    assert list(lost["loss (%)"]) == pytest.approx([70.0, 60.0])
    # 224 bytes a pore against 616
    assert list(lost["by bytes (%)"]) == pytest.approx([100 * (1 - 224 / 616)] * 2)
    assert list(lost["roof of one (%)"]) == pytest.approx([50.0] * 2)


def test_bytes_are_those_of_the_papers_two_kernels():
    table = speed.bytes_table().set_index("strategy")
    assert dict(table["step (bytes)"]) == {"dense": 472, "sparse": 616, "tiled": 304}
    assert dict(table["kernels a step"]) == {"dense": 2, "sparse": 2, "tiled": 1}
    assert dict(table["densities (bytes)"]) == {"dense": 160, "sparse": 232, "tiled": 0}


def test_a_card_without_caches_reads_all_neighbours_from_memory():
    def share(read: int, stored: int = 0) -> float:
        return 100 * (232 + 4 * stored) / (616 + 4 * (read + 2 * stored))

    # 232 bytes of 616, and 34 densities more; 10 more by central differences; six components of velocities more
    shares = speed.density_shares().iloc[0]
    assert list(shares) == pytest.approx([share(0), share(34), share(10), share(10, 6)])


def sized(speeds: dict, device: str = "cuda") -> pd.DataFrame:
    """Speeds in MLUPS by (strategy, side)."""
    rows = [(*key, mlups, device) for key, mlups in speeds.items()]
    return pd.DataFrame(rows, columns=["strategy", "side", "mlups", "device"])


def test_small_boxes_are_compared_by_the_time_of_a_step():
    flat = {("sparse", 64): 1000.0, ("sparse", 128): 3600.0, ("tiled", 64): 500.0, ("tiled", 128): 2000.0}
    layers, cubes = sized(flat), sized({("sparse", 30): 4500.0, ("tiled", 30): 250.0})
    assert speed.growth_of_small(layers) == {"more": 4, "longer": pytest.approx(4 / 3.6), "holds": True}
    table = speed.smallest_steps(layers, cubes).set_index("strategy")
    # nodes over millions of nodes a second
    assert list(table.loc["tiled"]) == pytest.approx([8.192, 108, 108 / 8.192])
    assert list(table.loc["nodes"]) == pytest.approx([64**2, 30**3, 30**3 / 64**2])


def test_whether_a_verdict_hangs_on_how_figure_6_12_is_read_follows_from_the_numbers():
    claim, media = find(["porous-097"])["porous-097"], [speed.NO_SOLID, speed.SPHERES, speed.BLOCKS]

    def readings(sparse: float, dense: float) -> pd.DataFrame:
        rows = [
            (name, s, r, r * (1 if s == speed.NO_SOLID else 0.7))
            for name, rate in (("dense", dense), ("sparse", sparse))
            for s, r in zip(media, (1, 1, rate), strict=True)
        ]
        table = pd.DataFrame(rows, columns=["strategy", "space", "mlups", "mflups"])
        return speed.readings(table, claim)

    one = readings(1.3, 0.7)
    assert [tuple(row) for row in one[["strategy", "per"]].to_numpy()] == [
        (name, unit) for name in ("sparse", "dense") for unit in ("pore", "node")
    ]
    assert list(one["loss (%)"]) == pytest.approx([9, -30, 51, 30])
    assert list(one["within"]) == [False, False, False, True]
    assert not readings(1.3, 1.2)["within"].any()


def test_speeds_stand_beside_the_papers():
    layers, cubes, structures = paper_tables()
    table = speed.sides_table(layers, cubes, {"layers": FIGURES["6.10a"], "cubes": FIGURES["6.10b"]})
    row = table.set_index("boxes").loc["cubes"]
    assert (row["slowest"], row["slowest in"], row["fastest"], row["fastest in"]) == (64.6, "30³", 80.3, "100³")
    assert (row["paper: slowest"], row["paper: fastest"]) == (64.6, 80.3)
    # among spheres 70 % of the nodes are pores, among blocks half
    pores = structures.assign(mflups=structures["mlups"] * structures["space"].map(POROSITIES))
    relative = speed.relative_table(pores, FIGURES["6.12"]).set_index("over no solid")
    assert list(relative.loc["paper, by either reading"]) == pytest.approx([0.79, 0.67] * 2, abs=0.005)
    assert dict(relative.loc["sparse"]) == pytest.approx(
        {"spheres, per pore": 0.7 * 0.79, "blocks, per pore": 0.5 * 0.67}
        | {"spheres, per node": 0.79, "blocks, per node": 0.67},
        abs=0.005,
    )


def test_figures_show_the_numbers_that_they_are_given():
    layers, _, structures = paper_tables()
    layers = layers.assign(side=layers["space"].str[:-1].astype(int))
    drawn = [
        speed_figures.speed_over_sides(layers, FIGURES["6.10a"], 1e12),
        speed_figures.structure_bars(structures, FIGURES["6.12"]),
        speed_figures.allowed_and_measured(parted(dense=900.0, tiled=800.0), "made up"),
    ]
    assert list(drawn[0][1]["sparse MLUPS"]) == list(FIGURES["6.10a"]["mlups"])
    assert list(drawn[1][1]["mlups"]) == list(FIGURES["6.12"]["mlups"])
    assert list(drawn[2][1]["mflups"]) == [900.0, 800.0]
    for figure, _ in drawn:
        assert all(axes.get_xlabel() or axes.get_ylabel() for axes in figure.axes)
        plt.close(figure)


def test_the_headline_has_the_best_cube_and_the_loss_of_the_first_space():
    cubes = pd.concat([table_of({"64³": 700.0, "128³": 1234.5}), table_of({"64³": 9999.0}, "dense")])
    lost = pd.DataFrame({"loss (%)": [51.2, 60.0]})
    found = speed.headline(cubes, lost, SimpleNamespace(description="a card"), find(speed.CLAIMS))
    ours = "Two fluids run at 1,230 MFLUPS (a card), 0.49 times as fast as one"
    assert found == f"{ours}; the paper has 80, 0.37 times"
