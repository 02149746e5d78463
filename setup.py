"""The parts of the build that pyproject.toml cannot express: the C kernel of the fast engine, and the place of rtl/.

Without a C compiler, the build continues without the kernel; the numpy engine is then used, with a notice.
"""

from hashlib import sha256
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

FOLDER = Path("dais_verif/golden/kernel")
SOURCES = sorted(FOLDER.glob("*.[ch]"))


class BuildWithRtl(build_py):
    """Install the hand-written RTL, which is at the top of the source tree, inside the package."""

    def run(self):
        """Copy ``rtl/*.v`` to ``dais_verif/rtl``; an editable installation finds them in the source tree."""
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
            # The hash of its sources, so that a stale build is noticed. See dais_verif/golden/fast.py.
            define_macros=[("SOURCE_HASH", sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16])],
            extra_compile_args=["-O3", "-std=gnu11", "-Wall", "-Wextra"],
            optional=True,
        )
    ],
)
