"""What counts as kept, exact or rounding in a sentence of a notebook stands here too, so that none changes unnoticed.

By these numbers sentences hold or not, and no measure of the package does: a notebook alone compares with them.
"""

import pytest

from repro.papers.electrons.collisions import angles, tracks
from repro.papers.electrons.fields import dispersion, reflection
from repro.papers.electrons.gyration import crossed, orbits
from repro.papers.electrons.plasma import loop, waves
from repro.papers.sph.dam_break import runs as dam_break
from repro.papers.sph.still_water import runs as still_water

#: a thousandth of a probability and less; per cent of NIST's tables and standard deviations; relative errors; radians;
#: dB from ten layers on; shares of an energy, a volume and a pressure
THRESHOLDS = [
    (angles.LEAST, 1e-4),
    (tracks.STOPPING_ERROR, 3),
    (tracks.RANGE_ERROR, 5),
    (tracks.DEVIATIONS, 4),
    (dispersion.FREQUENCY_ERROR, 1e-6),
    (crossed.ROUNDING, 1e-9),
    (orbits.RADIUS_ERROR, 1e-10),
    (orbits.PHASE_ERROR, 1e-8),
    (reflection.LARGEST, -40),
    (reflection.JUDGED, 10),
    (loop.GROWTH, 0.02),
    (loop.ROUNDING["double"], 1e-13),
    (loop.ROUNDING["single"], 1e-6),
    (waves.FREQUENCY_ERROR, 0.005),
    (waves.ENERGY_DRIFT, 1e-3),
    (waves.THEORY, 1e-4),
    (dam_break.ENERGY_GAIN, 1e-5),
    (dam_break.FRONT_ENDS, 3.4),
    (still_water.ENERGY_GAIN, 1e-5),
    (still_water.PRESSURE_ERROR, 0.02),
]


@pytest.mark.parametrize(("threshold", "stated"), THRESHOLDS)
def test_a_threshold_of_a_sentence_is_the_one_that_was_stated(threshold, stated):
    assert threshold == stated
