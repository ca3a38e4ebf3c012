"""Sentences hold up to their bounds, and not beyond: each a little to this side and a little to the other."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.dpd.observables import Estimate
from repro.papers.dpd.flow import plates, sections
from repro.papers.dpd.random_numbers import cycle
from repro.papers.dpd.speed import tables
from repro.papers.electrons.collisions import tracks
from repro.papers.electrons.gyration import crossed
from repro.papers.electrons.plasma import loop, waves
from repro.papers.porous.box import cavity, duct, lids
from repro.papers.porous.box import speed as box
from repro.papers.porous.gpu import matrix_sum
from repro.papers.porous.media import memory, permeability, precision, variants
from repro.papers.porous.media import speed as media
from repro.papers.porous.two_fluids import contact, laplace, layered
from repro.papers.porous.two_fluids import media as pores
from repro.papers.porous.two_fluids import speed as two_fluids
from repro.papers.sph.dam_break import runs as dam_break
from repro.papers.sph.ghosts import air
from repro.papers.sph.ghosts import measures as ghosts
from repro.papers.sph.still_water import runs as still_water


def frame(**columns) -> pd.DataFrame:
    """A table, with spaces and units in the names of its columns where they have a double underscore."""
    return pd.DataFrame({name.replace("__", " (%)").replace("_", " "): values for name, values in columns.items()})


def looked(covered: float, saturation: float):
    """A run of two fluids that was looked at after ten steps."""
    return SimpleNamespace(table=frame(step=[10], covered=[covered], saturation=[saturation]))


def cases_of(exchanged: float, paper: float, neutral: float) -> tuple:
    names = ["exchanged", "as in the paper", "neutral"]
    return (pd.DataFrame({"covered": [exchanged, paper, neutral], "saturation": 0.5}, names),)


def shrinking(power: float):
    """An interface that shrinks as a power of the time to a plateau, looked at from the hundredth step on."""
    steps = np.array([50.0, 100.0, 200.0, 400.0, 800.0, 1600.0])
    table = frame(step=steps, interface=[99.0, *steps[1:-1] ** power, 1e-6])
    return (SimpleNamespace(table=table, last=table.iloc[-1]),)


def faster(times: float):
    """Half of the pores are full of either fluid."""
    return (SimpleNamespace(last=pd.Series({"flow f": times, "flow g": 1.0, "saturation": 0.5})),)


def refined(*deviations: float) -> tuple:
    return frame(collision="mrt", nodes=[32, 64, 128], deviation__=deviations), "mrt"


def spreads(mrt: float) -> tuple:
    index = pd.MultiIndex.from_product([["bgk", "mrt"], [permeability.THESIS_WALLS]], names=["collision", "walls"])
    return (pd.DataFrame({"spread (%)": [10.0, mrt]}, index),)


def layers(mean: float, second: float) -> tuple:
    """Steps of a layer of 64 and of one twice as wide, by the paper's strategy."""
    rows = [("sparse", 64, 64**2 / mean), ("sparse", 128, 128**2 / second)]
    return (pd.DataFrame(rows, columns=["strategy", "side", "mlups"]),)


def fluids(spheres: float) -> tuple:
    rows = [(2, "isotropic-4", 0.2, 0.07), (3, "isotropic-4", 0.2, spheres)]
    names = ["dimensions", "stencil", "interaction"]
    return (pd.DataFrame(rows, columns=[*names, "tension"]).set_index(names),)


def fronts(finest: float) -> tuple:
    table = frame(spacings=[10, None, None], slope=[finest, 1.3, 1.4], arrival=[2.3, 2.5, 2.6])
    return (table.astype({"spacings": "Int64"}),)


def pair(*errors) -> tuple:
    return pd.Series(errors[0]), pd.Series(errors[1])


def single(last: float, middle: float = 99) -> tuple:
    """k of a run in single precision after 20 steps, of which 1 % were lost after ten."""
    return (frame(series=["single"] * 3 + ["double"] * 2, x=[0, 10, 20, 10, 20], y=[1, middle, last, 100, 100.0]),)


def drawn(off: float):
    """A flow so far from the exact one, from which the printed equation is off by a tenth."""
    return SimpleNamespace(deviation=lambda: off, exact=lambda *printed: np.array([0.5, 0.9 if printed else 1.0]))


def bows(free: float) -> pd.DataFrame:
    """By how much outer layers are bowed without a force, one of two hardly; with one by 1 % at least."""
    names = ["paper", "as printed", "as printed", "without", "without"]
    return frame(reading=names, collision=["", "bgk", "mrt", "bgk", "mrt"], bow__=[9.0, 1.0, 5.0, free, 0.01])


def lanes(rate: float) -> pd.DataFrame:
    """Blocks of whole warps at 100 GB/s, and such of which a quarter of the lanes is idle, or less at no loss."""
    kinds, busy = ["whole warps", "others"] * 2, [100.0, 75.0, 100.0, 87.5]
    return frame(block=[64, 64, 96, 96], kind=kinds, lanes_busy__=busy, **{"GB/s": [100.0, rate, 100.0, 110.0]})


def viscosities(first: float) -> tuple:
    """Those of two programs, the second's being 1."""
    return ({"core": Estimate(first, 0.01), "GPU": Estimate(1.0, 0.01)},)


def exchanged(read: float, corrected: float) -> tuple:
    """Sums of the angles of two exchanged drops in pictures, of which one has 60 degrees."""
    return (pd.DataFrame({"read": [60.0, read - 60], "corrected": [60.0, corrected - 60]}, [-0.01, 0.01]),)


PLANE = SimpleNamespace(theory=np.array([1.0]))
LOST = frame(time=[0.0, 1.0, 2.0], volume=[1.0, 1.0, 0.99])
FLAT = frame(interaction=[0.1, 0.2], potential_step__=[1.0, 1.01])

#: a function, what it is given where its sentence holds, and where it does not
BOUNDS = [
    (pores.surrounds, (looked(0.09, 0.5), [10]), (looked(0.11, 0.5), [10])),
    # of nine tenths, which is more than half again of what it fills only where that is less than 60 %
    (pores.surrounds, (looked(0.02, 0.36), [10]), (looked(0.05, 0.36), [10])),
    (pores.turned_round, cases_of(0.91, 0.09, 0.59), cases_of(0.89, 0.09, 0.59)),
    (pores.turned_round, cases_of(0.91, 0.09, 0.59), cases_of(0.91, 0.11, 0.59)),
    (pores.turned_round, cases_of(0.91, 0.09, 0.59), cases_of(0.91, 0.09, 0.61)),
    (pores.turned_round, cases_of(0.91, 0.09, 0.41), cases_of(0.91, 0.09, 0.39)),
    (pores.coarsening, shrinking(-0.66), shrinking(-0.68)),
    (pores.coarsening, shrinking(-0.34), shrinking(-0.32)),
    (pores.faster, faster(1.01), faster(0.99)),
    (layered.orders, refined(8.0, 4.0, 1.5), refined(8.0, 4.0, 1.3)),
    (layered.orders, refined(8.0, 4.0, 3.9), refined(8.0, 4.0, 4.1)),
    (laplace.spheres_agree, fluids(0.0733), fluids(0.0737)),
    (laplace.spheres_agree, fluids(0.0667), fluids(0.0663)),
    (laplace.continuum_fails, (FLAT,), (FLAT.assign(**{"potential step (%)": [1.01, 1.02]}),)),
    (laplace.continuum_fails, (FLAT,), (FLAT.assign(**{"potential step (%)": [0.5, 0.99]}),)),
    (contact.from_pictures, (frame(difference=[-14.9, 9.0]),), (frame(difference=[-15.1, 9.0]),)),
    (contact.from_pictures, (frame(difference=[-9.0, 14.9]),), (frame(difference=[-9.0, 15.1]),)),
    (contact.complementary, (frame(difference=[1.0, 2.9, np.nan]),), (frame(difference=[1.0, 3.1, np.nan]),)),
    (contact.symmetric, exchanged(170, 189), exchanged(170, 191)),
    (contact.symmetric, exchanged(190, 171), exchanged(190, 169)),
    (permeability.left_by_two_rates, spreads(0.99), spreads(1.01)),
    (laplace.balanced, (frame(minority=[1.0, 1.0099], lattice_minority=1.0),),
     (frame(minority=[1.0, 1.0101], lattice_minority=1.0),)),
    (laplace.balanced, (frame(minority=[1.0, 0.9901], lattice_minority=1.0),),
     (frame(minority=[1.0, 0.9899], lattice_minority=1.0),)),
    (layered.correction, (drawn(0.049),), (drawn(0.051),)),
    (layered.bows, (bows(0.099),), (bows(0.101),)),
    (memory.reading_numbers, (frame(saves_below_porosity=[0.749, 0.9]), 0.7),
     (frame(saves_below_porosity=[0.751, 0.9]), 0.7)),
    (matrix_sum.lost_in_lanes, (lanes(73.1),), (lanes(72.9),)),
    (matrix_sum.lost_in_lanes, (lanes(99.9),), (lanes(100.0),)),
    (precision.settled, single(99.09), single(99.11)),
    (precision.settled, single(100.91, 101), single(100.89, 101)),
    (variants.explained, (frame(predicted__=[10.0], measured__=[10.99]), frame(change_with_BGK__=[3.0])),
     (frame(predicted__=[10.0], measured__=[11.01]), frame(change_with_BGK__=[3.0]))),
    (variants.explained, (frame(predicted__=[10.0], measured__=[9.01]), frame(change_with_BGK__=[3.0])),
     (frame(predicted__=[10.0], measured__=[8.99]), frame(change_with_BGK__=[3.0]))),
    (matrix_sum.rule_numbers, (frame(blocks=[2, 2], warps=[6, 8], **{"GB/s": [0.89, 1.0]}),),
     (frame(blocks=[2, 2], warps=[6, 8], **{"GB/s": [0.91, 1.0]}),)),
    (two_fluids.growth_of_small, layers(1.0, 1.99), layers(1.0, 2.01)),
    (media.waiting_numbers, (frame(time=[0.51], warps=[0.5], blocks=[0.6]),),
     (frame(time=[0.49], warps=[0.5], blocks=[0.6]),)),
    (media.waiting_numbers, (frame(time=[0.59], warps=[0.5], blocks=[0.6]),),
     (frame(time=[0.61], warps=[0.5], blocks=[0.6]),)),
    (cavity.error_ratios, (frame(ratio=[1.0, 1.99]), 0.1), (frame(ratio=[1.0, 2.01]), 0.1)),
    (duct.error_numbers, (frame(error__=[2.0, 1.0]), 1.0), (frame(error__=[2.0, 1.01]), 1.0)),
    (lids.moved_by_speed, (frame(lid_speed=[1, 2], Mach=[1, 2], a=[0.0, 0.49 / 256]),),
     (frame(lid_speed=[1, 2], Mach=[1, 2], a=[0.0, 0.51 / 256]),)),
    (lids.misses, (frame(**{"paper - converged": [3.0, 3.0], "ours - converged": [0.1, 2.9]}),),
     (frame(**{"paper - converged": [3.0, 3.0], "ours - converged": [0.1, 3.1]}),)),
    (lids.indistinct, (frame(lid=["a", "b"], coordinates=lids.WALL_TO_WALL, rms=[1.0, 1.99], x=[0.0, 1.0]),),
     (frame(lid=["a", "b"], coordinates=lids.WALL_TO_WALL, rms=[1.0, 2.01], x=[0.0, 1.0]),)),
    (box.rung_numbers, (pd.Series([1.0, 1.01, 1.02], ["node by node", "rows", "rows, all cores"]),),
     (pd.Series([1.0, 0.99, 1.02], ["node by node", "rows", "rows, all cores"]),)),
    (plates.against_bulk, (PLANE, np.array([0.953])), (PLANE, np.array([0.951]))),
    (plates.against_bulk, (PLANE, np.array([1.052])), (PLANE, np.array([1.054]))),
    (plates.ratio, viscosities(1.049), viscosities(1.051)),
    (plates.ratio, viscosities(0.951), viscosities(0.949)),
    (cycle.anew, (frame(stretches=[100], **{"anew, second": [9], "anew, first": [1]}),),
     (frame(stretches=[100], **{"anew, second": [10], "anew, first": [1]}),)),
    (tables.printed_speedup, (frame(**{"from rates, particle": [1.0], "speedup, particle": [1.11]}),),
     (frame(**{"from rates, particle": [1.0], "speedup, particle": [1.09]}),)),
    (tables.printed_speedup, (frame(**{"from rates, particle": [1.0], "speedup, particle": [0.89]}),),
     (frame(**{"from rates, particle": [1.0], "speedup, particle": [0.91]}),)),
    (waves.along_an_axis, (frame(direction=["x", "diagonal"], deviation__=[-0.49, 9.0]),),
     (frame(direction=["x", "diagonal"], deviation__=[-0.51, 0.0]),)),
    (waves.along_an_axis, (frame(direction=["x", "diagonal"], deviation__=[0.49, 9.0]),),
     (frame(direction=["x", "diagonal"], deviation__=[0.51, 0.0]),)),
    (waves.faces_matter, (frame(drift=[0.99e-3, 1.01e-3], **{"swing (cells)": [0.1, 1.0]}),),
     (frame(drift=[1.01e-3, 1.02e-3], **{"swing (cells)": [0.1, 1.0]}),)),
    (waves.faces_matter, (frame(drift=[0.9e-3, 1.01e-3], **{"swing (cells)": [0.1, 1.0]}),),
     (frame(drift=[0.9e-3, 0.99e-3], **{"swing (cells)": [0.1, 1.0]}),)),
    (crossed.orders, (frame(pusher=["Boris"] * 2 + ["splitting"] * 2, turn=[1, 2] * 2, angle=[1, 2**2.19, 1, 4.0]),),
     (frame(pusher=["Boris"] * 2 + ["splitting"] * 2, turn=[1, 2] * 2, angle=[1, 2**2.21, 1, 4.0]),)),
    (crossed.orders, (frame(pusher=["Boris"] * 2 + ["splitting"] * 2, turn=[1, 2] * 2, angle=[1, 4.0, 1, 2**1.81]),),
     (frame(pusher=["Boris"] * 2 + ["splitting"] * 2, turn=[1, 2] * 2, angle=[1, 4.0, 1, 2**1.79]),)),
    (tracks.within, (pd.Series([-2.99]), 3), (pd.Series([-3.01]), 3)),
    (tracks.within, (pd.Series([2.99]), 3), (pd.Series([3.01]), 3)),
    (dam_break.volume_kept, (frame(time=[0.0, 1.0], volume=[1.0, 0.971]), 1.0),
     (frame(time=[0.0, 1.0], volume=[1.0, 0.969]), 1.0)),
    (dam_break.volume_kept, (frame(time=[0.0, 1.0], volume=[1.0, 1.029]), 1.0),
     (frame(time=[0.0, 1.0], volume=[1.0, 1.031]), 1.0)),
    (dam_break.slope, fronts(1.49), fronts(1.51)),
    (dam_break.slope, fronts(1.21), fronts(1.19)),
    (dam_break.volume_loss, (LOST,),
     (frame(time=[0.0, 1.0, 2.0], volume=[1.0, 0.99, 1.0]),)),
    # a line takes two looks
    (dam_break.volume_loss, (LOST,), (LOST[:1],)),
    (ghosts.smoother, pair([1.0, 1.9], [2.0, 9.0]), pair([1.0, 2.1], [2.0, 9.0])),
    (still_water.better, ({"with ghosts": [0.1, 0.19], "without ghosts": [0.2, 0.9]},),
     ({"with ghosts": [0.1, 0.21], "without ghosts": [0.2, 0.9]},)),
    (air.paper_stiffness_fails, (frame(variant=["paper's B, a", "paper's B, b", "paper's B"], fails=[1, 1, 0]),),
     (frame(variant=["paper's B, a", "paper's B, b", "soft"], fails=[1, 0, 1]),)),
]  # fmt: skip


@pytest.mark.parametrize(("told", "true", "false"), BOUNDS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_sentence_holds_on_this_side_of_its_bound_and_not_on_the_other(told, true, false):
    assert told(*true)["holds"]
    assert not told(*false)["holds"]


def test_residuals_are_kept_to_their_limit_and_gauss_law_to_a_walk_of_as_many_steps():
    rows = frame(step=[1, 4], continuity=[1.0, 1.0], gauss=[1.0, 2.0], limit=[1.0, 1.0])
    assert loop.kept(rows)
    assert not loop.kept(rows.assign(continuity=[1.0, 1.01]))
    assert not loop.kept(rows.assign(gauss=[1.0, 2.01]))


def test_the_flow_through_a_channel_is_steady_within_five_per_cent_over_its_sections_and_in_time(monkeypatch):
    in_time = (0.0, 0.049, True), (0.0, 0.051, False), (0.0, -0.051, False)
    for over, late, holds in (*in_time, (0.049, 0.0, True), (0.051, 0.0, False)):
        # of two sections more and of two less
        sections_of = 1 + over * np.sqrt(3 / 4) * np.array([1, -1, 1, -1])
        windows = [sections_of, sections_of, (1 + late) * sections_of]
        monkeypatch.setattr(sections, "rates_by_window", lambda fields, case, windows=windows: np.array(windows))
        found = sections.rates(SimpleNamespace(windows=[0, 0, 0]), None)
        assert found == {"over": pytest.approx(100 * over), "late": pytest.approx(100 * late), "holds": holds}


def test_what_is_not_as_with_nothing_changed_differs_by_more_than_a_tenth():
    names = [f"{variants.BASE}, 9 nodes", "a, 9 nodes", "b, 9 nodes", "c, 7 nodes", variants.PAPER_ROW]
    table = pd.DataFrame({0.6: [10.0, 10.9, 11.2, 10.0, 10.0]}, names)
    # of another grid nothing is known
    assert list(variants.different(table).index) == [names[0], *names[2:]]


def mapped(**over) -> tuple:
    columns = {f"over {name}": values for name, values in zip(tables.BASELINES, over.values(), strict=True)}
    return (pd.DataFrame(columns, ["thread per particle", "sorted cells"]),)


#: what is faster, less or more than something else, where both are the same
EQUAL = [
    (media.in_place_numbers, (pd.DataFrame({"in place / list": [0.5, 2.0]}),)),
    (media.double_share, (frame(share=[50.0, 60.0]),)),
    (media.storage_numbers, (pd.DataFrame({"mflups": 1.0, "seconds": 1.0, "runs": [[1.0]] * 3},
     ["node by node", "rows", "flag word, rows"]),)),
    (media.bytes_ratio, (frame(strategy=["sparse", "flag word"], bandwidth=[1.0, 1.0], mflups=[1.0, 1.0]),)),
    (pores.faster, faster(1.0)),
    (tables.kept, (frame(particles=[1, 1, 2, 2], order=tables.AT_RANDOM, way=[tables.SERIAL_PROGRAM, tables.JUDGED] * 2,
     updates=[2.0, 2.0, 1.0, 2.0]),)),
    (tables.gains, mapped(core=[9.0, 9.0], planes=[5.0, 5.0], cores=[9.0, 10.0])),
    (tables.gains, mapped(core=[9.0, 9.0], planes=[5.0, 5.0], cores=[8.0, 8.0])),
    (box.roof_numbers, (frame(roof=[1.0]),)),
    (box.share_numbers, (frame(strategy=["shared memory"], mlups=[5.0]),)),
    # as fast as its bytes
    (two_fluids.one_kernel, (two_fluids.bytes_table().rename(columns={"step (bytes)": "bytes"})
     .assign(mflups=lambda table: 1 / table["bytes"]), "dense")),
    (dam_break.lead, fronts(1.3)[0].assign(arrival=2.5)),
    (ghosts.smoother, pair([1.0, 2.0], [2.0, 9.0])),
]  # fmt: skip


@pytest.mark.parametrize(("told", "given"), EQUAL, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_the_same_is_neither_more_nor_less(told, given):
    assert not told(*([given] if isinstance(given, pd.DataFrame) else given))["holds"]


def test_changes_of_both_rates_are_told_apart_by_what_they_differ_and_not_by_their_size():
    """At chi = 0.6 both change by 10 % but for a hundredth of a reading, at 0.7 by three readings more or less."""
    paper = pd.DataFrame({"chi": [0.6, 0.7], "reading (%)": 0.1, "change with MRT (%)": [10.0, 10.0]})
    changes = {("mrt", 0.6): 10.0, ("mrt", 0.7): 10.0, ("mrt-dhumieres", 0.6): 10.001, ("mrt-dhumieres", 0.7): 10.3}
    rows = [(chi, tau, kind, 128, 100 * (1 + change / 100 * (tau == 1.0)))
            for (kind, chi), change in changes.items() for tau in (0.8, 1.0)]  # fmt: skip
    points = pd.DataFrame(rows, columns=["chi", "tau", "collision", "length", "k"])
    assert variants.told_rates(points, paper) == {"thirty": 1, "all": 1, "holds": True}


def test_what_tells_directions_apart_is_above_a_millionth():
    for least, above in ((1.1e-6, True), (0.9e-6, False)):
        assert permeability.above_rounding(pd.DataFrame({"k back/k - 1": [1e-3, -least]})) == above


def test_an_interface_shrinks_until_it_is_a_tenth_above_its_last_value():
    """As one over the root of the time from 4 to 2, and so on until it hardly changes."""
    for plateau, powers in ((1.09, (-0.5, -0.5)), (1.11, (-0.7, -0.5))):
        rows = frame(step=[100, 200, 400, 800, 1600], interface=[4.0, 8**0.5, 2.0, plateau, 1.0])
        power = pores.coarsening(SimpleNamespace(table=rows, last=rows.iloc[-1]))["power"]
        assert powers[0] - 1e-9 <= power <= powers[1] + 1e-9
        assert (power == pytest.approx(-0.5)) == (plateau == 1.09)


def test_the_outer_layer_of_the_paper_is_straight_to_a_thousandth(monkeypatch):
    points = pd.DataFrame({"series": "numerical", "x": [0.0], "y": [0.0]})
    for bow, holds in ((0.099, True), (0.101, False)):
        found = {"slope": 1e-4, "bow (%)": bow, "curvature": 1e-6}
        monkeypatch.setattr(layered, "shear", lambda x, y, half, found=found: found)
        assert layered.viscosities_by_shear(points)["holds"] == holds
