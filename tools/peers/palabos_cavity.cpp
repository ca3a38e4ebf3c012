/* The cubic lid-driven cavity of Palabos, whose time step can be run whole or phase by phase.
 *
 * A peer: Palabos does the work, and this file asks it for one phase at a time, in the order of its own
 * BlockLattice3D::collideAndStream. Boundary nodes are regularised, and the lid slides along the diagonal of its plane,
 * as in Palabos' examples (benchmarks/cavity3d). build_palabos.sh makes a shared library of it, which
 * repro/papers/swap/palabos.py calls. */
#include "palabos3D.h"
#include "palabos3D.hh"

#include <algorithm>
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

    /* The first cell in memory, and into `shape`: cells along each axis, where the cavity begins along each, numbers of
     * eight bytes in a cell, and the place of its first population. */
    double* cells(long* shape) {
        Cell<T, DESCRIPTOR>& first = block().get(0, 0, 0);
        const Box3D b = box();
        const long found[] = {block().getNx(), block().getNy(), block().getNz(), b.x0, b.y0, b.z0,
                              (long)(sizeof(first) / sizeof(T)), (long)(&first[0] - (T*)&first)};
        std::copy(found, found + 8, shape);
        return (double*)&first;
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

    MultiBlockLattice3D<T, DESCRIPTOR> lattice;
};

}  // namespace

extern "C" {
void* palabos_open(long nodes, double omega, double speed) { return new Cavity(nodes, omega, speed); }
void palabos_close(void* cavity) { delete static_cast<Cavity*>(cavity); }
void palabos_run(void* cavity, int phase) { static_cast<Cavity*>(cavity)->run(static_cast<Phase>(phase)); }
double* palabos_cells(void* cavity, long* shape) { return static_cast<Cavity*>(cavity)->cells(shape); }
/* the velocity of population p, for whoever numbers them in another way */
int palabos_velocity(int p, int axis) { return D::c[p][axis]; }
}
