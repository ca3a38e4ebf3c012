"""Reads files that are not what they should be, and starts commands that cannot work, and looks at the answers.

.venv/bin/python tools/drill_files.py              # images, samples, checkpoints, commands
.venv/bin/python tools/drill_files.py commands     # of some kinds

Images and sample files of every format, checkpoints of every method, whole ones and such as are cut off, changed in
one byte, of another kind, missing; command lines with what no command takes. An answer is right if it is one line, of
one of the project's own errors or with exit status 2, within five seconds. The exit status is 1 if one was wrong.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from drill_inputs import LONGEST, Answer, Target, answer

from repro.files import write_text

SAMPLE = """image = "packing.raw"
shape = [8, 8, 8]
dtype = "uint8"
pore = 0
voxel_size = 1e-5
axis = "x"
ends = "periodic"
sides = "periodic"
"""

WRONG_LINES = (
    *(
        'image = "none.raw"',
        "image = 5",
        'image = ""',
        'image = "."',
        'image = "../"',
        "image = [1]",
        'image = "a\\u0000b"',
    ),
    *(
        "shape = [8, 8]",
        "shape = [8, 8, -8]",
        "shape = [8, 8, 9]",
        'shape = "8"',
        "shape = [8.0, 8.0, 8.0]",
        "shape = []",
    ),
    *("shape = [99999, 99999, 99999]", "shape = [true, 8, 8]"),
    *('dtype = "float99"', 'dtype = "O"', "dtype = 5", 'dtype = ""', 'dtype = "uint16"', 'dtype = "complex64"'),
    *('pore = "0"', "pore = 7", "pore = 0.5", "pore = true", "pore = 1e400"),
    *("voxel_size = 0.0", "voxel_size = -1e-5", 'voxel_size = "1e-5"', "voxel_size = nan", "voxel_size = inf"),
    *('axis = "w"', "axis = 0", 'axis = ""', 'ends = "open"', "ends = 1", 'sides = "none"', "sides = []", "sides"),
)

COMMANDS = (
    *("", "nope", "run nope", "run porous/nope", "run --profile nope", "run --profile ''", "run --device nope"),
    *(
        "run --jobs 0",
        "run --jobs -1",
        "run --jobs 1.5",
        "run --jobs x",
        "run --jobs 99999999999",
        "run --share 0",
        "run --share x",
        "run --share 2 --device serial",
        "run --nope",
        "run -p",
    ),
    *("run --timeout 0", "run --timeout -1", "run --timeout nan", "run --timeout 1e300", "run --timeout x"),
    *("run --output ''", "run --output .", "run --output repro", "run --output data/x", "run --output /proc/x"),
    *("run --output pyproject.toml", "run --output .git", "run --scheduler x", "run --scheduler tcp://127.0.0.1:1"),
    *(
        "run cavity -p nodes",
        "run cavity -p =1",
        "run cavity -p nope=1",
        "run cavity -p nodes=x",
        "run cavity -p nodes=1.5",
    ),
    *("run cavity -p nodes=0", "run cavity -p nodes=-8", "run cavity -p nodes=True", "run cavity -p nodes=[8]"),
    *(
        "run cavity -p reynolds=nan",
        "run cavity -p reynolds=1e999",
        "run cavity -p reynolds=",
        "run cavity -p reynolds=0",
    ),
    *("run cavity -p duct:nodes=8", "run cavity -p porous/nope:nodes=8", "run cavity -p precision=5 -p nodes=0"),
    *(
        "run porous/duct -p relaxation_times=[]",
        "run porous/duct -p relaxation_times=['x']",
        "run dpd/poiseuille -p size=[1]",
    ),
    *("run dpd/channel -p bins=[1,2,3]", "run sph/dam_break -p column=[6,5]", "run electrons/gyration -p count=0"),
    *("run swap/swap_rules -p largest=0", "run swap/swap_rules -p drawn=-1", "run porous/laplace -p radii=[-1.0]"),
    *("report --nope", "report x y", "status --profile nope", "status nope", "doctor x", "list x"),
    *("publish", "publish --from ''", "publish --from nope", "publish --from pyproject.toml", "manifest x"),
)


def images(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Images: calls of `read_image` by name."""
    from repro.lbm.media import read_image

    pores = (np.random.default_rng(1).random((8, 8, 8)) < 0.5).astype(np.uint8)
    np.save(folder / "good.npy", pores)
    pores.tofile(folder / "packing.raw")
    import tifffile

    tifffile.imwrite(folder / "good.tif", pores)
    for name in ("good.npy", "good.tif"):
        content = (folder / name).read_bytes()
        # the voxels are among the first bytes of both formats
        for size in (0, 1, 6, 60, 100, 300, 600):
            file = folder / f"cut{size}-{name}"
            file.write_bytes(content[:size])
            yield file.name, lambda file=file: read_image(file)
    for kind, values in {
        **{
            "flat": np.ones(8, np.uint8),
            "colour": np.ones((8, 8, 3), np.uint8),
            "four": np.ones((2, 2, 2, 2), np.uint8),
        },
        **{"text": np.array([["a"]]), "objects": np.array([[{}]]), "empty": np.ones((0, 8, 8), np.uint8)},
        **{"nan": np.full((8, 8, 8), np.nan), "complex": np.ones((8, 8, 8), complex), "scalar": np.uint8(1)},
        **{"solid": np.ones((8, 8, 8), np.uint8), "grey": np.arange(512, dtype=np.uint16).reshape(8, 8, 8)},
    }.items():
        np.save(folder / f"{kind}.npy", values, allow_pickle=True)
        yield f"{kind}.npy", lambda kind=kind: _flow(read_image(folder / f"{kind}.npy"))
    for name in ("none.npy", "none.tif", "", ".", "a\0b.npy", 5, None, "packing.png", "packing", "good.npy.gz"):
        yield f"path {name!r}", lambda name=name: read_image(folder / name if isinstance(name, str) else name)
    for shape in (None, (8, 8), (8, 8, 9), (0, 8, 8), (8.0, 8, 8), "888", (2**40,) * 3):
        yield f"raw of {shape}", lambda shape=shape: read_image(folder / "packing.raw", shape=shape)


def _flow(image):
    from repro.lbm.media import PoreSpace

    PoreSpace(image).require_flow("x")


def samples(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Sample files: each line wrong in turn, left out, or unknown; and files that are none."""
    from repro.lbm.media.sample import read_sample

    (np.random.default_rng(1).random((8, 8, 8)) < 0.5).astype(np.uint8).tofile(folder / "packing.raw")
    texts = {f"with {line}": _changed(line) for line in WRONG_LINES}
    texts |= {f"without {name}": _without(name) for name in ("image", "shape", "voxel_size")}
    texts |= {"unknown": SAMPLE + "colour = 1\n", "empty": "", "none": "\0\1\2", "lines": "[[[", "list": "[image]\n"}
    texts |= {"twice": SAMPLE + SAMPLE}
    for number, (name, text) in enumerate(texts.items()):
        write_text(folder / f"{number}.toml", text)
        yield name, lambda number=number: read_sample(folder / f"{number}.toml")
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    for name in ("binary.toml", "missing.toml", ".", ""):
        yield f"file {name!r}", lambda name=name: read_sample(folder / name)


def _changed(line: str) -> str:
    name = line.partition("=")[0].strip()
    return "".join(f"{line}\n" if old.startswith(name) else f"{old}\n" for old in SAMPLE.splitlines())


def _without(name: str) -> str:
    return "".join(f"{line}\n" for line in SAMPLE.splitlines() if not line.startswith(name))


def checkpoints(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Checkpoints of four methods: cut off, with a byte changed, of another method, and no files at all."""
    loads = dict(_saved(folder))
    chance = random.Random(1)
    for method, load in loads.items():
        content = (folder / method).read_bytes()
        for size in (0, 1, 100, 511, 512, 600, len(content) // 2, len(content) - 1):
            yield f"{method} cut at {size}", _reading(load, folder, content[:size])
        for _ in range(12):
            place = chance.randrange(len(content))
            changed = bytearray(content)
            changed[place] ^= 1 << chance.randrange(8)
            yield f"{method} with byte {place} changed", _reading(load, folder, bytes(changed))
        for other in set(loads) - {method}:
            yield f"{method} from {other}", lambda load=load, other=other: load(folder / other)
        for path in (folder / "none", folder, "", None, 5, "/dev/null", "a\0b"):
            yield f"{method} from {str(path)[-8:]!r}", lambda load=load, path=path: load(path)


def _reading(load, folder: Path, content: bytes):
    def call():
        path = Path(tempfile.mkdtemp(dir=folder)) / "file.h5"
        path.write_bytes(content)
        load(path)

    return call


def _saved(folder: Path) -> Iterator[tuple[str, Callable]]:
    """A whole checkpoint of each method, under the method's name, and what loads it."""
    from repro.dpd import cases as dpd_cases
    from repro.dpd import checkpoint as dpd_file
    from repro.dpd.simulation import Simulation as Dpd
    from repro.lbm.media import PoreSpace
    from repro.lbm.two_fluids import checkpoint as fluids_file
    from repro.lbm.two_fluids.model import TwoFluids
    from repro.lbm.two_fluids.simulation import TwoFluidFlow
    from repro.parallel import select
    from repro.pic.cases import UniformSource
    from repro.pic.disk import checkpoint as pic_file
    from repro.pic.simulation import Simulation as Pic
    from repro.sph import cases as sph_cases
    from repro.sph import checkpoint as sph_file
    from repro.sph.simulation import Simulation as Sph

    core = select("serial")
    dpd = Dpd(dpd_cases.Bulk((4.0, 4.0, 4.0)).system(), core)
    sph = Sph(sph_cases.StillWater(column=(4, 4, 4)).system(), core)
    fluids = TwoFluidFlow(TwoFluids(PoreSpace(np.zeros((1, 8, 8), bool)), 0.2), core)
    pic = Pic(UniformSource(cells=4, per_cell=2.0).system(), core)
    for name, simulation, module in (
        ("dpd", dpd, dpd_file),
        ("sph", sph, sph_file),
        ("two fluids", fluids, fluids_file),
    ):
        simulation.step(2)
        module.save(simulation, folder / name)
    pic.step(2)
    pic_file.save(pic, folder / "electrons")
    yield "dpd", lambda path: dpd_file.load(path, core)
    yield "sph", lambda path: sph_file.restore(sph, path)
    yield "two fluids", lambda path: fluids_file.load(path, core)
    yield "electrons", lambda path: pic_file.load(path, core)


def commands() -> Iterator[Answer]:
    """Command lines, each of which must end with one line and exit status 2."""
    for line in COMMANDS:
        begin = time.monotonic()
        words = [word.replace("''", "") for word in line.split()]
        done = subprocess.run([sys.executable, "-m", "repro", *words], capture_output=True, text=True, timeout=60)
        lines = done.stderr.strip().splitlines()
        kind = "refused" if done.returncode == 2 and len(lines) == 1 else f"rc {done.returncode}, {len(lines)} lines"
        # no command at all shows the help
        kind = "refused" if not line and done.returncode == 2 and done.stdout else kind
        if time.monotonic() - begin > LONGEST:
            kind = "slow"
        yield Answer("command", "", line, kind, done.stderr.strip())


def read(kind: Callable, name: str) -> Iterator[Answer]:
    """The answers to all files of a kind."""
    with tempfile.TemporaryDirectory() as place:
        for what, call in kind(Path(place)):
            yield answer(Target(f"{name}: {what}", lambda call, _: call(), {"call": call}), "_", None)


def main() -> None:
    """Read the command line, drill, and say what came of it."""
    kinds = {"images": images, "samples": samples, "checkpoints": checkpoints}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "kinds", nargs="*", choices=[*kinds, "commands", []], help="images, samples, checkpoints, commands"
    )
    chosen = parser.parse_args().kinds or [*kinds, "commands"]
    found = [one for name in chosen for one in (commands() if name == "commands" else read(kinds[name], name))]
    for one in found:
        if one.kind != "refused":
            print(f"{one.kind:8} {one.target} {one.value if one.target == 'command' else ''} {one.text[:300]}")
    counts = Counter(one.kind for one in found)
    print(f"{len(found)} answers: {', '.join(f'{count} {kind}' for kind, count in counts.most_common())}")
    sys.exit(set(counts) != {"refused"})


if __name__ == "__main__":
    main()
