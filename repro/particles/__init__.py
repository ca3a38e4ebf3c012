"""What particle methods share, on plain arrays: cells, their order, lists, scan and random numbers.

Arrays of vectors are flat: component k of particle i is at k * count + i. Positions are whole numbers (see `position`).
"""
