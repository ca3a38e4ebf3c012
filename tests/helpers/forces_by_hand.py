"""Forces by hand: plain Python over all pairs, with its own random numbers, written from the paper's equations."""

import math

import numpy as np

MASK = (1 << 32) - 1
DELTA = 0x9E3779B9


def tea(a: int, b: int, key, rounds: int) -> tuple[int, int]:
    """Wheeler and Needham's algorithm in Python's integers."""
    total = 0
    for _ in range(rounds):
        total = (total + DELTA) & MASK
        a = (a + (((b << 4) + key[0]) ^ (b + total) ^ ((b >> 5) + key[1]))) & MASK
        b = (b + (((a << 4) + key[2]) ^ (a + total) ^ ((a >> 5) + key[3]))) & MASK
    return a, b


def deviates(low: int, high: int, key, rounds: int) -> tuple[float, float]:
    """Two normal deviates from two words: Box and Muller."""
    one, two = tea(low, high, key, rounds)
    u1, u2 = (one + 0.5) / 2**32, (two + 0.5) / 2**32
    radius, angle = math.sqrt(-2 * math.log(u1)), 2 * math.pi * u2
    return radius * math.cos(angle), radius * math.sin(angle)


def deviate(first: int, second: int, seed: int, step: int, rounds: int) -> float:
    """The normal deviate of a pair: stream 1."""
    low, high = sorted((first, second))
    return deviates(low, high, (seed, 1, step, DELTA), rounds)[0]


def soft(r, a):
    """Equation 1."""
    return a * (1 - r)


def paper_deviate(first: int, second: int, seed: int, step: int) -> float:
    """The normal deviate of a pair by two runs of 32 rounds: streams 1 and 4, the first word of each."""
    low, high = sorted((first, second))
    u1, u2 = ((tea(low, high, (seed, stream, step, DELTA), 32)[0] + 0.5) / 2**32 for stream in (1, 4))
    return math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2)


def forces(system, *, seed: int = 1, step: int = 0, rounds: int = 8, law=soft) -> np.ndarray:
    """Force on each particle from all others in the periodic box, equations 1 to 5; none between frozen ones.

    `law` is the conservative force at a distance, with the fluid's numbers.
    """
    fluid, box = system.fluid, np.array(system.box)
    total = np.zeros((system.count, 3))
    for i in range(system.count):
        for j in range(i + 1, system.count):
            apart = system.position[i] - system.position[j]
            apart -= box * np.round(apart / box)
            distance = math.sqrt(apart @ apart)
            if distance >= 1 or distance == 0 or min(i, j) >= system.moving:
                continue
            e, w = apart / distance, 1 - distance
            approach = e @ (system.velocity[i] - system.velocity[j])
            along = law(distance, fluid.repulsion, *fluid.parameters)
            along -= fluid.sigma**2 / (2 * fluid.temperature) * w * w * approach
            along += fluid.sigma * w * deviate(i, j, seed, step, rounds) / math.sqrt(fluid.dt)
            total[i] += along * e
            total[j] -= along * e
    return total
