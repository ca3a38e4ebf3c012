"""The study: which notebooks there are, what the papers claim, how a run is made and how it is judged.

Notebooks use `repro.study.record`; the command line uses the rest.
"""
