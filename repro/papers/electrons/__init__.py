"""Experiments of the paper on electrons: Chetverushkin, Markov, Uskov, particle method for hybrid supercomputers."""
