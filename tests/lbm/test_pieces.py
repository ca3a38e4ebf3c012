"""Flows on disk in pieces: any number of ranks goes on with the same bits, and no checkpoint is lost."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.rank_flows import random_populations
from helpers.rank_threads import on_ranks
from helpers.vtk_file import arrays_of
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm import pieces
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9
from repro.lbm.media import PoreSpace
from repro.lbm.porous import results
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.results import Checkpoints, write_vtk
from repro.lbm.porous.simulation import PorousFlow
from repro.parallel.ranks.world import Alone

WALLS = Boundaries(("half-way", "half-way", "periodic", "periodic", "periodic", "periodic"))


def problem_of(seed: int = 0) -> PorousProblem:
    """A small image with many pores, closed at the ends of x."""
    solid = np.random.default_rng(seed).random((1, 7, 6)) < 0.2
    return PorousProblem(PoreSpace(solid), 0.8, (1e-3, 2e-3, 0.0), "trt", lattice=D2Q9, boundaries=WALLS)


def flow_on(rank, problem=None, **options) -> PorousFlow:
    return PorousFlow(problem or problem_of(), PlainDevice(), strategy="sparse", ranks=rank, **options)


def begin(path, rank, steps: int):
    """A checkpoint of a flow after so many steps."""
    flow = flow_on(rank)
    flow.set_populations(random_populations(flow.problem))
    flow.step(steps)
    Checkpoints(path, rank, {"size": 2.0}, 0)(flow, 2, 1e-3, [(5, 0.25)])


def fields_of(flow) -> list:
    return [flow.gathered(values) for values in flow.fields()]


@settings(max_examples=8)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.integers(0, 3))
def test_a_checkpoint_goes_on_on_another_number_of_ranks_with_the_same_bits(
    tmp_path_factory, before, after, steps, more
):
    path = tmp_path_factory.mktemp("pieces") / "a.h5"
    on_ranks(before, lambda rank: begin(path, rank, steps))
    assert len(list(path.parent.iterdir())) == before + 1

    def go_on(rank):
        begun, flow = Checkpoints(path, rank, {"size": 2.0}, 0).begun(), flow_on(rank)
        begun.restore(flow)
        assert (begun.attempt, begun.force, begun.history, flow.steps) == (2, 1e-3, ((5, 0.25),), steps)
        flow.step(more)
        return fields_of(flow)

    whole = flow_on(None)
    whole.set_populations(random_populations(whole.problem))
    whole.step(steps + more)
    for found, expected in zip(on_ranks(after, go_on)[0], fields_of(whole), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_a_new_checkpoint_takes_the_place_of_the_old_one_only_when_all_ranks_have_written_theirs(tmp_path, monkeypatch):
    path = tmp_path / "a.h5"
    on_ranks(2, lambda rank: begin(path, rank, 1))
    old, write = sorted(tmp_path.iterdir()), pieces._write_piece
    content = [file.read_bytes() for file in old]

    def full(flow, file):
        if flow.share.ranks.rank == 1:
            raise OSError(28, "No space left on device")
        write(flow, file)

    def fails(rank):
        with pytest.raises(InputError, match="cannot be written: No space left on device") as refused:
            begin(path, rank, 2)
        return str(refused.value)

    monkeypatch.setattr(pieces, "_write_piece", full)
    # all ranks say the same
    assert len(set(on_ranks(2, fails))) == 1
    assert sorted(tmp_path.iterdir()) == old
    assert [file.read_bytes() for file in old] == content
    monkeypatch.setattr(pieces, "_write_piece", write)
    # what a rank leaves that was killed while it wrote
    (tmp_path / f".a.h5.{1:08x}.1.89abcdef").write_bytes(b"half")
    on_ranks(2, lambda rank: begin(path, rank, 2))
    # the pieces of the old one are gone
    assert len(list(tmp_path.iterdir())) == 3
    assert not set(old[1:]) & set(tmp_path.iterdir())
    Checkpoints(path, Alone(), {}, 0).remove()
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_of_another_run_or_image_is_refused_and_so_is_one_without_a_piece(tmp_path):
    path = tmp_path / "a.h5"
    on_ranks(2, lambda rank: begin(path, rank, 1))
    assert Checkpoints(tmp_path / "none.h5", Alone(), {}, 0).begun() is None
    with pytest.raises(InputError, match=r"a\.h5: a checkpoint of a run with size 2, not 3"):
        Checkpoints(path, Alone(), {"size": 3.0}, 0).begun()
    begun = Checkpoints(path, Alone(), {"size": 2.0}, 0).begun()
    with pytest.raises(InputError, match="of another image or strategy"):
        begun.restore(flow_on(None, problem_of(1)))
    with pytest.raises(InputError, match=r"0/0 is float32, not float64"):
        begun.restore(flow_on(None, precision="double"))
    sorted(tmp_path.iterdir())[-1].unlink()
    with pytest.raises(InputError, match="no such checkpoint file"):
        begun.restore(flow_on(None))


def test_a_checkpoint_is_written_when_rank_0_says_that_it_is_time(tmp_path, monkeypatch):
    now, saved = [0.0, 0.0], []
    monkeypatch.setattr(results.pieces, "save", lambda flow, *_: saved.append(flow))

    def run(rank):
        # each rank has a clock of its own
        monkeypatch.setattr(results.time, "monotonic", lambda: now[0])
        keeper = Checkpoints(tmp_path / "a.h5", rank, {}, 60)
        return keeper

    (keeper,) = on_ranks(1, run)
    for now[0], expected in ((59, 0), (60, 1), (119, 1), (121, 2)):
        keeper("flow", 1, 1.0, [])
        assert len(saved) == expected


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_pieces_of_a_vtk_image_are_the_whole(tmp_path, ranks):
    def run(rank):
        flow = flow_on(rank)
        flow.set_populations(random_populations(flow.problem))
        flow.step(2)
        write_vtk(flow, tmp_path / "flow.pvti", voxel_size=2e-6)
        return fields_of(flow)

    density, velocity = on_ranks(ranks, run)[0]
    tree = ElementTree.parse(tmp_path / "flow.pvti").getroot()[0]
    assert tree.get("WholeExtent") == "0 6 0 7 0 1"
    assert float(tree.get("Spacing").split()[0]) == 2e-6
    found = {
        name: np.full((1, 7, 6, *width), np.nan)
        for name, width in (("density - 1", ()), ("velocity", (3,)), ("solid", ()))
    }
    assert [array.get("Name") for array in tree.find("PCellData")] == list(found)
    for piece in tree.findall("Piece"):
        x0, x1, y0, y1, z0, z1 = map(int, piece.get("Extent").split())
        for name, values in arrays_of(Path(tmp_path / piece.get("Source"))).items():
            here = found[name][z0:z1, y0:y1, x0:x1]
            assert np.isnan(here).all()
            here[...] = values.reshape(here.shape)
    np.testing.assert_array_equal(found["density - 1"].astype(np.float32), (density - 1).astype(np.float32))
    np.testing.assert_array_equal(np.moveaxis(found["velocity"], -1, 0).astype(np.float32), velocity.astype(np.float32))
    np.testing.assert_array_equal(found["solid"] == 1, problem_of().solid)
