#!/bin/sh
# Build the shared library of palabos_cavity.cpp into build/peers, from Palabos as Debian packages it:
#   apt-get install libplb-dev libeigen3-dev libtinyxml-dev libopenmpi-dev g++
# Give g++ other options than -O3 as arguments, e.g. tools/peers/build_palabos.sh -O2
set -eu
cd "$(dirname "$0")/../.."
if [ ! -f /usr/include/palabos/palabos3D.h ]; then
    echo "Palabos is not installed: apt-get install libplb-dev libeigen3-dev libtinyxml-dev libopenmpi-dev g++" >&2
    exit 1
fi
mkdir -p build/peers
# the macro leaves out a header of version 1.5 that g++ 12 does not compile; without PLB_MPI_PARALLEL it runs on one core
g++ "${@:--O3}" -march=native -std=c++14 -w -fPIC -shared -DPLB_USE_POSIX -DCOARSE_GRID_PROCESSORS_3D_HH \
    -I/usr/include/palabos -I/usr/include/eigen3 tools/peers/palabos_cavity.cpp -o build/peers/libpalabos_cavity.so.new \
    -lplb -ltinyxml
mv build/peers/libpalabos_cavity.so.new build/peers/libpalabos_cavity.so
