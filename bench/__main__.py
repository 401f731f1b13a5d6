"""``python -m bench [SECTION ...]``: measures and prints tables; all sections when none is named.

BENCH_N, BENCH_REPEAT, BENCH_SEEDS, BENCH_NIGHTS and BENCH_SHARDS make the sections shorter or longer. PEERS_HOME is
where the peers' environments are kept; they are made by pip when they are not there.
"""

import os
import platform
import sys

from bench.sections import SECTIONS


def main() -> None:
    """Runs the named sections one after the other."""
    names = sys.argv[1:] or list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise SystemExit(f"there is no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    for name in names:
        print(f"\n## {name}", flush=True)
        for line in SECTIONS[name]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
