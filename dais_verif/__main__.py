"""``python -m dais_verif`` is ``dais-verif``."""

from dais_verif.cli.main import main

if __name__ == "__main__":
    main()
