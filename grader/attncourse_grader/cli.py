"""The command ``attncourse``: hand out exercises, grade, adjust, export."""

import argparse
import os
import sys
import tomllib
from pathlib import Path

from attncourse_grader import commands
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.isolate.forking import TOTAL_SECONDS
from attncourse_grader.safe_text import one_line, reason
from attncourse_grader.sentences import SAYS
from attncourse_grader.workers import cores

FAULTS, INTERRUPTED = 1, 130
TYPES = {"path": Path, "number": int}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; `commands` has a function for each."""
    told = tomllib.loads(Path(__file__).with_name("cli.toml").read_text("utf8"))
    of_here = {
        "--secret": os.environ.get("ATTNCOURSE_SECRET", ""),
        "--index": os.environ.get("PIP_EXTRA_INDEX_URL", ""),
        "--jobs": cores(),
        "--limit": TOTAL_SECONDS,
    }
    parser = argparse.ArgumentParser("attncourse", description=told["description"])
    found = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command, said in told["commands"].items():
        own = found.add_parser(command, help=said["help"])
        takes = {name: told["shared"][name] for name in said["shared"]}
        for name, facts in (takes | said.get("own", {})).items():
            changes = {"default": of_here[name]} if name in of_here else {}
            if "type" in facts:
                changes["type"] = TYPES[facts["type"]]
            own.add_argument(name, **facts | changes)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parsed = build_parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a name may need letters that it has not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return getattr(commands, f"run_{parsed.command}")(parsed)
    except KeyboardInterrupt:
        print(SAYS["interrupted"], file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Refused as sentence:
        text = one_line(sentence, 1000)
        begins = text.split()[0].isalpha()  # with a word, not with the name of a file
        print(text[0].upper() + text[1:] if begins else text, file=sys.stderr)
    except OSError as error:
        place = one_line(error.filename2 or error.filename or "A file", 300)
        print(SAYS["unreadable"].format(place, reason(error)), file=sys.stderr)
    except Exception as error:
        if os.environ.get("ATTNCOURSE_TRACEBACK"):
            raise
        said = one_line(f"{type(error).__name__}: {error}", 300)
        print(SAYS["failed"].format(said), file=sys.stderr)
    return FAULTS


if __name__ == "__main__":
    sys.exit(main())
