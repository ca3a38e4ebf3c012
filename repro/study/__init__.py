"""The study: which notebooks there are, what the papers claim, how a run is made and how it is judged.

Six rooms, each of which imports only those before it: `notebooks` (what there is to run), `judge` (claims and
verdicts), `keep` (what a notebook hands over), `run` (executes them) and `publish` (from a run into the checkout),
`show` (the scoreboard). Notebooks use `repro.study.keep.record`; the command line uses the rest.
"""
