"""Make the snapshot of Jane Austen's six novels that chapter 10 trains on.

    apt-get download r-cran-janeaustenr && dpkg -x r-cran-janeaustenr_*.deb FOLDER
    pip install rdata
    python experiments/novels.py FOLDER

The texts are Project Gutenberg's, in the public domain; the R package janeaustenr,
which Debian ships, has them as lines. Lines of a paragraph are joined, so that a model
need not learn where a printer broke them; each paragraph and heading is then one line.
"""

import lzma
import re
import sys
import zlib
from pathlib import Path

import rdata

from attncourse.data import novels

DATA = "usr/lib/R/site-library/janeaustenr/data/Rdata"


def main():
    """Read the R package's database and write attncourse/data/novels.txt.xz."""
    base = Path(sys.argv[1]) / DATA
    places = rdata.read_rds(f"{base}.rdx")["variables"]
    packed = Path(f"{base}.rdb").read_bytes()
    texts = []
    for title in novels.TITLES:
        name = re.sub("and | ", "", title.lower())
        offset, size = (int(number) for number in places[name])
        data = zlib.decompress(packed[offset + 4 : offset + size])  # 4 bytes: length
        lines = rdata.conversion.convert(rdata.parser.parse_data(data))
        paragraphs = "\n".join(str(line).strip() for line in lines).split("\n\n")
        paragraphs = (" ".join(part.split()) for part in paragraphs)
        texts.append("\n".join(part for part in paragraphs if part))
    data = novels.BREAK.join(texts).encode()
    preset = 9 | lzma.PRESET_EXTREME
    Path(novels.SNAPSHOT).write_bytes(lzma.compress(data, preset=preset))
    print(f"{len(data):,} bytes; SHA-256 {novels.digest(data)}")


if __name__ == "__main__":
    main()
