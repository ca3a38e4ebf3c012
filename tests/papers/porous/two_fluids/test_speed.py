"""What the notebook on the speed of two fluids says and judges follows from its tables, whatever the numbers are."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from helpers.judging import by_statement

from repro.papers.porous.two_fluids import speed, speed_figures, speed_text
from repro.parallel import select
from repro.study.judge.claims import find
from repro.study.judge.evidence import Evidence
from repro.study.notebooks import Project

DATA = Project.default().data
FIGURES = {number: speed.paper_points(DATA, number) for number in ("6.10a", "6.10b", "6.12")}


def table_of(speeds: dict, strategy: str = "sparse", porosity: float = 1.0) -> pd.DataFrame:
    """A table of speeds from {space: MLUPS}, with what the figures take besides."""
    table = pd.DataFrame({"space": list(speeds), "mlups": list(speeds.values())})
    table["mflups"] = porosity * table["mlups"]
    return table.assign(strategy=strategy, bandwidth=616e6 * table["mflups"], hardware="made up", porosity=porosity)


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


def apart(**speeds) -> pd.DataFrame:
    """`steps_taken_apart` with made-up times: MFLUPS by strategy, on a device that copies 472e9 bytes a second."""
    rows = [
        {"strategy": name, "bytes": moved, "allowed": 472e3 / moved, "mflups": speeds[name]}
        for name, moved in (("dense", 472.0), ("sparse", 616.0), ("tiled", 304.0))
        if name in speeds
    ]
    table = pd.DataFrame(rows).assign(**{"densities (%)": 22.0, "by bytes (%)": 37.7})
    return table.assign(**{"roof (%)": 100 * table["mflups"] / table["allowed"], "spread (%)": 5.0})


def test_the_papers_figures_are_read_as_they_are():
    assert list(FIGURES["6.10a"]["side"]) == [64, 128, 256, 512, 1024, 2048]
    assert FIGURES["6.10b"].set_index("side")["mlups"][100] == 80.3
    assert list(FIGURES["6.12"]["medium"]) == list(speed.STRUCTURES.values())


def test_the_papers_own_numbers_meet_its_claims_and_others_do_not():
    newer = dict.fromkeys(("porous-092", "porous-094", "porous-095"), "met by newer hardware")
    assert verdicts(speed.speed_claims(*paper_tables())) == newer | {"porous-097": "reproduced"}
    layers, cubes, structures = paper_tables()
    slow = [table.assign(mflups=0.9 * table["mflups"]) for table in (layers, cubes)]
    found = verdicts(speed.speed_claims(*slow, structures.assign(mflups=59.0)))
    assert set(found.values()) == {"not reproduced"}


def test_claims_are_judged_by_the_papers_strategy():
    both = [pd.concat([table, table.assign(strategy="dense", mlups=1.0, mflups=1.0)]) for table in paper_tables()]
    assert speed.speed_claims(*both) == speed.speed_claims(*paper_tables())
    lost = pd.DataFrame({"loss (%)": [71.0, 90.0]})
    rows = apart(dense=900.0, sparse=600.0)
    rows.loc[rows["strategy"] == "dense", "densities (%)"] = 50.0
    found = speed.share_claims(rows, lost)
    assert found == {"porous-090": 22.0, "porous-091": 71.0}
    assert set(verdicts(found).values()) == {"reproduced"}


@pytest.mark.parametrize("nx", [1, 30, 64, 80, 130, 150, 180, 256, 2048])
def test_rows_are_cut_into_blocks_that_leave_fewest_threads_idle(nx):
    def threads(block):
        return -(-nx // block) * block

    assert threads(speed.block_of("dense", nx)) == min(map(threads, (64, 96, 128)))
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
    assert speed.layer(8).shape == (8, 8, 1)
    assert speed.cube(4).shape == (4, 4, 4)
    assert speed.mixture(speed.layer(8)).accelerations == ((0.0, 0.0, 0.0),) * 2


def test_every_strategy_is_timed_in_every_space(monkeypatch):
    timed = []

    def measured(case, problem, device, *, strategy, block, seconds):
        timed.append((strategy, problem.space.shape, block))
        return SimpleNamespace(row={"case": case, "mlups": 1.0})

    monkeypatch.setattr(speed, "measure_speed", measured)
    table = speed.over_sides(speed.layer, [32, 64], ["dense", "sparse"], None, seconds=0.1)
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
    table = speed.cpu_baselines(speed.cube(4), seconds=0.1)
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
    monkeypatch.setattr(speed.timings, "copy_bandwidth", lambda device: 44.8e9)
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


def test_whether_the_papers_decision_holds_depends_on_which_is_faster():
    assert "so the two kernels stay" in speed_text.apart_text(apart(dense=900.0, tiled=800.0))
    assert "two kernels are not the better choice" in speed_text.apart_text(apart(dense=900.0, tiled=1000.0))
    both = {"dense": 900.0, "sparse": 600.0}
    assert "so the two kernels stay" in speed_text.apart_text(apart(**both, tiled=500.0))
    level = speed_text.apart_text(apart(**both, tiled=612.0))
    assert "1.02 times as fast as `sparse`, which stands for the paper's program, which a spread of 5 %" in level
    assert "so one kernel gains nothing beyond the spread" in level
    assert "hangs on what it is compared with" in speed_text.apart_text(apart(**both, tiled=700.0))
    assert "measured in the profile" in speed_text.apart_text(apart(dense=900.0, sparse=800.0))
    assert "In this box it is 0.50 times as fast as `dense`" in speed_text.apart_text(apart(dense=900.0, tiled=450.0))


def test_a_card_without_caches_reads_all_neighbours_from_memory():
    claim = find(["porous-090"])["porous-090"]
    said = speed_text.densities_text(apart(sparse=600.0), claim)
    assert "takes 22 % of a step of `sparse`, and has 38 % of its bytes" in said
    # 232 bytes of 616, and 34 densities more; 10 more by central differences; six components of velocities more
    assert (
        f"36 densities of 18 neighbours from memory instead of 2, which makes the share in the bytes {_share(34)} %"
        in said
    )
    assert f"it reads 12, and the share is {_share(10)} %" in said
    assert f"stores, too, and its second one has to read, {_share(10, 6)} %" in said
    assert "**the bytes do not explain that**" in said
    assert said.endswith("`sparse` is judged, within 10 points of the paper's share.")
    both = apart(sparse=600.0, dense=900.0)
    both.loc[both["strategy"] == "dense", "densities (%)"] = 33.0
    assert speed_text.densities_text(both, claim).endswith("; `dense` has 33 %, **not within** 10 points.")
    assert "That is within 10 points of the paper's 30 %" in speed_text.densities_text(
        apart(sparse=600.0), replace(claim, value="30")
    )


def _share(read: int, stored: int = 0) -> str:
    return f"{100 * (232 + 4 * stored) / (616 + 4 * (read + 2 * stored)):.0f}"


def sized(speeds: dict, device: str = "cuda") -> pd.DataFrame:
    """Speeds in MLUPS by (strategy, side)."""
    rows = [(*key, mlups, device) for key, mlups in speeds.items()]
    return pd.DataFrame(rows, columns=["strategy", "side", "mlups", "device"])


def test_small_boxes_are_told_by_the_time_of_a_step():
    flat = {("sparse", 64): 1000.0, ("sparse", 128): 3600.0, ("tiled", 64): 500.0, ("tiled", 128): 2000.0}
    said = speed_text.small_text(sized(flat), sized({("sparse", 30): 4500.0, ("tiled", 30): 250.0}))
    assert "`sparse` 4.1 µs (64²), 6 µs (30³); `tiled` 8.19 µs (64²), 108 µs (30³)" in said
    assert "With 4 times the nodes (128²) `sparse` takes 1.1 times as long: few nodes cost little" in said
    # 2 x 16 tiles of 32 x 4 nodes, and 1 x 8 that walk along z
    assert "32 blocks of threads in 64² and 8 in 30³, where each takes up to 30 planes in turn" in said
    assert "13 times as long, with only 6.6 times the nodes" in said
    assert "blocks of threads" not in speed_text.small_text(
        sized(flat, "threads"), sized({(n, 30): 9.0 for n in ("sparse", "tiled")})
    )
    flat |= {("sparse", 128): 1000.0}
    said = speed_text.small_text(sized(flat), sized({("sparse", 30): 4500.0, ("tiled", 30): 900.0}))
    assert "the nodes rule it already" in said
    assert "3.7 times as long, with 6.6 times the nodes." in said


def test_whether_a_verdict_hangs_on_how_figure_6_12_is_read_follows_from_the_numbers():
    claim, media = find(["porous-097"])["porous-097"], [speed.NO_SOLID, speed.SPHERES, speed.BLOCKS]

    def said(sparse: float, dense: float) -> str:
        rows = [
            (name, s, r, r * (1 if s == speed.NO_SOLID else 0.7))
            for name, rate in (("dense", dense), ("sparse", sparse))
            for s, r in zip(media, (1, 1, rate), strict=True)
        ]
        table = pd.DataFrame(rows, columns=["strategy", "space", "mlups", "mflups"])
        return speed_text.structures_text(table, FIGURES["6.12"], claim)

    one = said(1.3, 0.7)
    assert "per pore, which is judged, loses 9 %, **not within** 10 points" in one
    assert "`sparse` per node gains 30 %, **not within**; `dense` per pore loses 51 %, **not within**" in one
    assert "`dense` per node loses 30 %, within" in one
    assert "**So the verdict depends on the reading**" in one
    assert "the verdict does not depend on the reading" in said(1.3, 1.2)


def test_speeds_are_put_into_words_beside_the_papers():
    layers, cubes, structures = paper_tables()
    published = {"layers": FIGURES["6.10a"], "cubes": FIGURES["6.10b"]}
    said = speed_text.sides_text(layers, cubes, published)
    assert "On cubes `sparse` makes 64.6 MLUPS (30³) to 80.3 (100³), the paper 64.6 to 80.3." in said
    said = speed_text.structures_text(structures, FIGURES["6.12"], find(["porous-097"])["porous-097"])
    assert "| paper, by either reading | 0.79 | 0.67 | 0.79 | 0.67 |" in said
    assert "| `sparse` | 0.79 | 0.67 | 0.79 | 0.67 |" in said
    cpu = pd.Series({"rows": 2.0, "rows, all cores": 40.0})
    best = cubes.nlargest(1, "mflups").iloc[0]
    assert speed_text.speedups_text(best, cpu).endswith("40 times rows, 2 times rows, all cores.")


def test_figures_show_the_numbers_that_they_are_given():
    layers, _, structures = paper_tables()
    layers = layers.assign(side=layers["space"].str[:-1].astype(int))
    drawn = [
        speed_figures.speed_over_sides(layers, FIGURES["6.10a"], 1e12),
        speed_figures.structure_bars(structures, FIGURES["6.12"]),
        speed_figures.allowed_and_measured(apart(dense=900.0, tiled=800.0), "made up"),
    ]
    assert list(drawn[0][1]["sparse MLUPS"]) == list(FIGURES["6.10a"]["mlups"])
    assert list(drawn[1][1]["mlups"]) == list(FIGURES["6.12"]["mlups"])
    assert list(drawn[2][1]["mflups"]) == [900.0, 800.0]
    for figure, _ in drawn:
        assert all(axes.get_xlabel() or axes.get_ylabel() for axes in figure.axes)
        plt.close(figure)
