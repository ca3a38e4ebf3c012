#!/usr/bin/env bash
# Installs the extra that fits the GPU driver; does nothing where there is no NVIDIA driver.
# install_gpu.sh PYTHON [CUDA]: with a version of CUDA such as 13.0 it asks no driver; an image is built without one.
set -euo pipefail
python=$1
version=${2:-}
if [ -z "$version" ]; then
    command -v nvidia-smi >/dev/null || exit 0
    version=$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA .*Version: *\([0-9]*\.[0-9]*\).*/\1/p' | head -n 1) || true
fi
major=${version%%.*}
minor=${version##*.}
if [ "${major:-0}" -lt 12 ]; then
    echo "The NVIDIA driver is missing or older than CUDA 12: running on the CPU."
    exit 0
fi
[ "$major" -ge 13 ] && extra=cuda13 || extra=cuda12
echo "Installing the GPU packages ($extra)"
# The pins hold but for the toolkit, which must not be newer than the driver.
pins=$(dirname "$python")/../constraints.txt
grep -v -E '^(cuda|nvidia|#)' requirements.txt >"$pins"
if [ "$extra" = cuda12 ] || [ "$major" -eq 13 ]; then
    echo "cuda-toolkit<$major.$((minor + 1))" >>"$pins"
fi
"$python" -m pip install --quiet --no-build-isolation -c "$pins" -e ".[$extra]" ||
    echo "The GPU packages could not be installed: running on the CPU. Try: $python -m pip install -e '.[$extra]'"
