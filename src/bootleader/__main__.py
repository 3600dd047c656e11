"""``python -m bootleader`` is the command ``bootleader``."""

import sys

from bootleader.cli import main

sys.exit(main())
