"""``python -m dais_verif`` is ``dais-verif``."""

from __future__ import annotations

import sys

from dais_verif.base.packages import missing_packages
from dais_verif.base.verdict import Verdict

if __name__ == "__main__":
    try:
        from dais_verif.doors.cli.main import main
    except ImportError as error:  # Python's own exit code would be 1, which here means that RTL is wrong
        line = missing_packages(error)
        if line is None:
            raise
        print(f"dais-verif: {Verdict.TOOL_FAILURE.value}: {line}", file=sys.stderr)
        sys.exit(Verdict.TOOL_FAILURE.exit_code)
    main()
