"""How the treatments of the water's boundaries are called in tables, figures and sentences."""

#: by their names in repro.sph.ghosts.BOUNDARIES
NAMES = {"ghosts": "with ghosts", "none": "without ghosts", "clamped": "without ghosts, density clamped"}
