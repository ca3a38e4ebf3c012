/* The cubic lid-driven cavity of Palabos, whose time step can be run whole or phase by phase.
 *
 * A peer: Palabos does the work, and this file asks it for one phase at a time, in the order of its own
 * BlockLattice3D::collideAndStream. Boundary nodes are regularised, and the lid slides along the diagonal of its plane,
 * as in Palabos' examples (benchmarks/cavity3d). build_palabos.sh makes a shared library of it, which
 * repro/papers/swap/palabos.py calls. */
#include "palabos3D.h"
#include "palabos3D.hh"

#include <cmath>
#include <vector>

using namespace plb;
typedef double T;
typedef descriptors::D3Q19Descriptor<T> D;
#define DESCRIPTOR descriptors::D3Q19Descriptor

namespace {

/* What Palabos does in a time step, and `whole`, which is its own time step. `bulk stream` alone needs nodes that have
 * collided and been reversed elsewhere. */
enum Phase { boundary_collision, bulk, bulk_stream, boundary_stream, rest, whole };

class Cavity {
public:
    Cavity(plint n, T omega, T speed) : lattice(n, n, n, new BGKdynamics<T, DESCRIPTOR>(omega)) {
        OnLatticeBoundaryCondition3D<T, DESCRIPTOR>* walls = createLocalBoundaryCondition3D<T, DESCRIPTOR>();
        walls->setVelocityConditionOnBlockBoundaries(lattice);
        const T along = speed / std::sqrt((T)2);
        setBoundaryVelocity(lattice, lattice.getBoundingBox(), Array<T, 3>(0., 0., 0.));
        setBoundaryVelocity(lattice, Box3D(1, n - 2, n - 1, n - 1, 1, n - 2), Array<T, 3>(along, 0., along));
        initializeAtEquilibrium(lattice, lattice.getBoundingBox(), (T)1, Array<T, 3>(0., 0., 0.));
        lattice.initialize();
        delete walls;
    }

    void run(Phase phase) {
        switch (phase) {
        case boundary_collision:
            for (const Box3D& face : faces()) block().collide(face);
            break;
        case bulk:
            block().bulkCollideAndStream(interior());
            break;
        case bulk_stream:
            block().bulkStream(interior());
            break;
        case boundary_stream:
            for (const Box3D& face : faces()) block().boundaryStream(box(), face);
            break;
        case rest:
            lattice.executeInternalProcessors();
            lattice.evaluateStatistics();
            lattice.incrementTime();
            break;
        case whole:
            lattice.collideAndStream();
        }
    }

    /* Population p of a node lies at order[p] * apart + node * next, with the last axis of the nodes fastest. */
    void pack(double* to, const int* order, plint apart, plint next) {
        each([&](Cell<T, DESCRIPTOR>& cell, plint node) {
            for (plint p = 0; p < D::q; ++p) to[order[p] * apart + node * next] = cell[p];
        });
    }

    void unpack(const double* from, const int* order, plint apart, plint next) {
        each([&](Cell<T, DESCRIPTOR>& cell, plint node) {
            for (plint p = 0; p < D::q; ++p) cell[p] = from[order[p] * apart + node * next];
        });
    }

private:
    BlockLattice3D<T, DESCRIPTOR>& block() { return *lattice.getBlockLattices().begin()->second; }

    /* the block with its envelope, in the block's own coordinates */
    Box3D box() {
        SmartBulk3D known(lattice.getMultiBlockManagement(), lattice.getBlockLattices().begin()->first);
        return known.toLocal(known.computeNonPeriodicEnvelope());
    }

    Box3D interior() {
        const Box3D b = box();
        return Box3D(b.x0 + 1, b.x1 - 1, b.y0 + 1, b.y1 - 1, b.z0 + 1, b.z1 - 1);
    }

    /* the six faces, without a node twice */
    std::vector<Box3D> faces() {
        const Box3D b = box();
        return {Box3D(b.x0, b.x0, b.y0, b.y1, b.z0, b.z1),
                Box3D(b.x1, b.x1, b.y0, b.y1, b.z0, b.z1),
                Box3D(b.x0 + 1, b.x1 - 1, b.y0, b.y0, b.z0, b.z1),
                Box3D(b.x0 + 1, b.x1 - 1, b.y1, b.y1, b.z0, b.z1),
                Box3D(b.x0 + 1, b.x1 - 1, b.y0 + 1, b.y1 - 1, b.z0, b.z0),
                Box3D(b.x0 + 1, b.x1 - 1, b.y0 + 1, b.y1 - 1, b.z1, b.z1)};
    }

    template <typename Action>
    void each(Action act) {
        const Box3D b = box();
        plint node = 0;
        for (plint x = b.x0; x <= b.x1; ++x)
            for (plint y = b.y0; y <= b.y1; ++y)
                for (plint z = b.z0; z <= b.z1; ++z, ++node) act(block().get(x, y, z), node);
    }

    MultiBlockLattice3D<T, DESCRIPTOR> lattice;
};

}  // namespace

extern "C" {
void* palabos_open(long nodes, double omega, double speed) { return new Cavity(nodes, omega, speed); }
void palabos_close(void* cavity) { delete static_cast<Cavity*>(cavity); }
void palabos_run(void* cavity, int phase) { static_cast<Cavity*>(cavity)->run(static_cast<Phase>(phase)); }
void palabos_pack(void* cavity, double* to, const int* order, long apart, long next) {
    static_cast<Cavity*>(cavity)->pack(to, order, apart, next);
}
void palabos_unpack(void* cavity, const double* from, const int* order, long apart, long next) {
    static_cast<Cavity*>(cavity)->unpack(from, order, apart, next);
}
/* the velocity of population p, for whoever numbers them in another way */
int palabos_velocity(int p, int axis) { return D::c[p][axis]; }
}
