"""What a collision of an electron in air can be, as numbers that kernels count and pass on."""

#: nothing happens: a candidate was rejected
NOTHING = 0
#: the direction changes
ELASTIC = 1
#: a secondary electron above the cut is set free
IONISATION = 2
#: a photon above the cut is emitted
RADIATION = 3
#: a slow electron is lost to an O2 molecule
ATTACHMENT = 4
#: a slow electron is lost to a positive ion
RECOMBINATION = 5
