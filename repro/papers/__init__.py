"""The experiments of each paper: what its notebooks call. One folder a paper, in it one folder a group of notebooks.

A function of figures or sketches returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""
