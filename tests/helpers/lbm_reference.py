"""Lattice Boltzmann on whole NumPy arrays: slow, obviously right, and written without a look at the kernels.

Populations f_i themselves (not minus their weights) in arrays (q, nz, ny, nx). What nobody defines is NaN, so that a
scheme that lets it into the fluid shows.
"""

import numpy as np

SHARE = {None: 0.0, "luo": 0.0, "guo": 0.5}


class Reference:
    """The fluid of a problem, from populations that have streamed and not yet collided."""

    def __init__(self, problem, populations):
        model = problem.model
        self.problem, self.f = problem, np.array(populations, float)
        self.c = np.array(model.lattice.velocities)
        self.w = np.array(model.lattice.weights)
        self.opposite = [int(np.flatnonzero((self.c == -c).all(1))[0]) for c in self.c]
        self.faces, self.moving = model.boundaries.faces, model.boundaries.moving
        self.force = np.array(problem.force)
        self.share = SHARE[model.forcing]
        self.forced = model.forcing is not None
        self.bounce = next((face for face in self.faces if face in ("half-way", "modified", "standard")), None)
        self.solid = self.on_any_face("standard")
        if problem.solid is not None:
            self.solid |= problem.solid
        #: "standard" nodes are in the wall, where nothing is extrapolated
        self.wall = self.on_any_face("extrapolation") & ~self.solid

    def coordinates(self):
        """x, y and z of all nodes."""
        z, y, x = np.indices(self.f.shape[1:])
        return x, y, z

    def on_face(self, face):
        """Which nodes lie on face number `face`, in the order x low, x high, y low, ..."""
        axis, upper = divmod(face, 2)
        return self.coordinates()[axis] == (self.problem.shape[axis] - 1 if upper else 0)

    def on_any_face(self, scheme):
        nodes = np.zeros(self.f.shape[1:], bool)
        for face, name in enumerate(self.faces):
            if name == scheme:
                nodes |= self.on_face(face)
        return nodes

    @property
    def resting(self):
        """The faces that are walls and do not move: what belongs to one of them and to a moving one is at rest."""
        return [face for face, name in enumerate(self.faces) if name != "periodic" and face != self.moving]

    def on_resting_face(self):
        """Which nodes lie on a wall that does not move."""
        return sum((self.on_face(face) for face in self.resting), np.zeros(self.f.shape[1:], bool))

    def comes_from_outside(self, i, faces=range(6)):
        """At which nodes population i has come through one of these faces, as far as they are closed."""
        nodes = np.zeros(self.f.shape[1:], bool)
        for face in faces:
            axis, upper = divmod(face, 2)
            if self.faces[face] != "periodic" and self.c[i][axis] == (-1 if upper else 1):
                nodes |= self.on_face(face)
        return nodes

    def wall_gain(self, i):
        """6 w_i c_i . u_wall where population i has come from a moving wall that bounces back."""
        if self.moving is None or self.faces[self.moving] != self.bounce:
            return 0.0
        gain = 6 * self.w[i] * (self.c[i] @ np.array(self.problem.wall_velocity))
        slides = self.comes_from_outside(i, [self.moving]) & ~self.comes_from_outside(i, self.resting)
        return np.where(slides, gain, 0.0)

    def moments(self, f, share):
        """Density and velocity with a share of the force."""
        rho = f.sum(0)
        momentum = np.einsum("ia,i...->a...", self.c, f) + share * self.force[:, None, None, None]
        return rho, momentum / rho

    def equilibrium(self, rho, u):
        along = np.einsum("ia,a...->i...", self.c, u)
        w = self.w[:, None, None, None]
        return w * rho * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u * u).sum(0))

    def completed(self):
        """The streamed populations with what the walls say about those that came from outside."""
        f = self.f.copy()
        if self.bounce == "modified":
            for i, o in enumerate(self.opposite):
                replaced = self.comes_from_outside(i) & ~self.comes_from_outside(o)
                f[i] = np.where(replaced, self.f[o] + self.wall_gain(i), f[i])
        x, y, z = self.coordinates()
        inner = []
        for axis, position in enumerate((x, y, z)):
            low = 1 if self.faces[2 * axis] == "extrapolation" else 0
            high = self.problem.shape[axis] - (2 if self.faces[2 * axis + 1] == "extrapolation" else 1)
            inner.append(np.clip(position, low, high))
        neighbour = f[:, inner[2], inner[1], inner[0]]
        rho, u = self.moments(neighbour, self.share)
        wall_velocity = np.zeros_like(u)
        if self.moving is not None and self.faces[self.moving] == "extrapolation":
            slides = self.on_face(self.moving) & ~self.on_resting_face()
            wall_velocity[:, slides] = np.array(self.problem.wall_velocity)[:, None]
        extrapolated = self.equilibrium(rho, wall_velocity) + neighbour - self.equilibrium(rho, u)
        return np.where(self.wall, extrapolated, f)

    def collided(self, f):
        rho, u = self.moments(f, self.share)
        departure = f - self.equilibrium(rho, u)
        even_rate, odd_rate = self.problem.rates
        w, c, force = self.w[:, None, None, None], self.c, self.force
        along_u, along_force = np.einsum("ia,a...->i...", c, u), (c @ force)[:, None, None, None]
        along_both = np.einsum("a...,a->...", u, force)
        term = w * (3 * (along_force - along_both) + 9 * along_u * along_force) * self.forced
        after = f.copy()
        for rate, sign in ((even_rate, 1), (odd_rate, -1)):
            after -= rate * (departure + sign * departure[self.opposite]) / 2
            after += (1 - self.share * rate) * (term + sign * term[self.opposite]) / 2
        return after

    def streamed(self, f):
        after = np.empty_like(f)
        for i, o in enumerate(self.opposite):
            cx, cy, cz = self.c[i]
            moved = np.roll(f[i], (cz, cy, cx), axis=(0, 1, 2))
            returned = f[o] + self.wall_gain(i)
            outside, other_side = self.comes_from_outside(i), self.comes_from_outside(o)
            if self.bounce == "half-way":
                after[i] = np.where(outside, returned, moved)
            else:
                # with no node on either side there is nothing to wait for, and a population turns round at once
                turned = other_side if self.bounce == "modified" else False
                after[i] = np.where(outside, np.where(turned, returned, np.nan), moved)
        # the populations of these nodes are made from their neighbours'
        after[:, self.wall] = np.nan
        return after

    def step(self, count=1):
        for _ in range(count):
            f = self.completed()
            after = np.where(self.solid, f[self.opposite], self.collided(f))
            if self.bounce == "standard":
                # a node in the wall sends back what it received, with the wall's motion unless another wall holds it
                moves = self.solid & ~self.on_resting_face()
                after += np.stack([np.where(moves, self.wall_gain(i), 0.0) for i in range(len(self.c))])
            self.f = self.streamed(after)

    def fields(self):
        """Density and velocity (with half the force) of all nodes, the velocity zero inside walls."""
        rho, u = self.moments(self.completed(), 0.5)
        return rho, np.where(self.solid, 0.0, u)


class PorousReference(Reference):
    """The fluid in the pores of a periodic image, each population followed by rolling whole arrays."""

    def __init__(self, problem, populations):
        super().__init__(problem.box, populations)
        self.image, self.walls = problem.space.solid, problem.walls

    def step(self, count=1):
        for _ in range(count):
            after = self.collided(np.where(self.image, self.w[:, None, None, None], self.f))
            for i, o in enumerate(self.opposite):
                cx, cy, cz = self.c[i]
                step = (cz, cy, cx)
                solid_behind = np.roll(self.image, step, axis=(0, 1, 2))
                solid_ahead = np.roll(self.image, tuple(-s for s in step), axis=(0, 1, 2))
                arrives = np.roll(after[i], step, axis=(0, 1, 2))
                from_ahead = np.roll(after[o], tuple(-s for s in step), axis=(0, 1, 2))
                on_wall = (self.walls == "modified") & ~solid_ahead
                self.f[i] = np.where(solid_behind, np.where(on_wall, from_ahead, after[o]), arrives)

    def fields(self):
        rho, u = self.moments(np.where(self.image, self.w[:, None, None, None], self.f), 0.5)
        return np.where(self.image, 1.0, rho), np.where(self.image, 0.0, u)
