"""The parts of the build that pyproject.toml cannot say: the C kernel of the fast golden engine, and where rtl/ goes.

Where there is no C compiler the build goes on without it; the numpy engine then takes over, with a notice.
"""

from hashlib import sha256
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

FOLDER = Path("dais_verif/golden/kernel")
SOURCES = sorted(FOLDER.glob("*.[ch]"))


class BuildWithRtl(build_py):
    """Hand-written RTL lies at the top of the source tree and is installed within the package."""

    def run(self):
        """Copy ``rtl/*.v`` to ``dais_verif/rtl``; an editable installation finds them where they are."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "dais_verif", "rtl")
            self.mkpath(str(target))
            for path in sorted(Path("rtl").glob("*.v")):
                self.copy_file(str(path), str(target / path.name))


setup(
    cmdclass={"build_py": BuildWithRtl},
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
    ],
)
