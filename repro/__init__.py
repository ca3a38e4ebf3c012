"""Reproducibility study of five GPU papers on particle and lattice methods.

`repro.parallel` runs one kernel body on one core, all cores or a GPU; `repro.particles` holds what particle methods
share; `repro.lbm`, `repro.dpd`, `repro.sph` and `repro.pic` are the solvers; `repro.papers` holds the experiments of
each paper, which the notebooks call; `repro.study` executes the notebooks and judges the papers' claims. The command
line is `python -m repro`.
"""

__version__ = "0.1.0"
