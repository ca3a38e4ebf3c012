"""Whether kernels can be compiled for a GPU here, without one."""

import importlib.metadata


def toolkit_installed() -> bool:
    """Whether the wheels of the CUDA toolkit are there."""
    names = {(dist.metadata["Name"] or "").lower() for dist in importlib.metadata.distributions()}
    return any(name.startswith(("nvidia-nvvm", "nvidia-cuda-nvcc")) for name in names)
