"""The command ``attncourse``: hands over to the grader, a distribution of its own."""

import sys

INSTALL = (
    "The commands of attncourse are those of its grader, which is not installed. "
    "Install it in the folder of the course: pip install ./grader"
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command of the grader, or say how to install it.

    Parameters
    ----------
    arguments : list of str, optional
        The words after the command's name; by default those of the process.

    Returns
    -------
    int
        The exit status.
    """
    try:
        from attncourse_grader import cli
    except ModuleNotFoundError as error:
        if error.name != "attncourse_grader":
            raise
        print(INSTALL, file=sys.stderr)
        return 1
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
