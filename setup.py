"""The part of the build that pyproject.toml cannot say: the C kernel of the fast golden engine.

Where there is no C compiler the build goes on without it; the numpy engine then takes over, with a notice.
"""

from hashlib import sha256
from pathlib import Path

from setuptools import Extension, setup

FOLDER = Path("dais_verif/golden/kernel")
SOURCES = sorted(FOLDER.glob("*.[ch]"))

setup(
    ext_modules=[
        Extension(
            "dais_verif.golden._kernel",
            [str(FOLDER / "kernel.c")],
            depends=[str(path) for path in SOURCES],
            # What it was built from, so that a stale build is noticed. See dais_verif/golden/fast.py.
            define_macros=[("SOURCE_HASH", sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16])],
            extra_compile_args=["-O3", "-std=gnu11", "-Wall", "-Wextra"],
            optional=True,
        )
    ]
)
