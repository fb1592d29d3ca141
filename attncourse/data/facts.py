"""The invented world of `passages`: people, works, places, dates."""

from attncourse.data._files import read_table

_WORLD = read_table("facts")

MEN, WOMEN, SURNAMES = (tuple(_WORLD[name]) for name in ("men", "women", "surnames"))
TOWNS = tuple(tuple(town.split()) for town in _WORLD["towns"])
MONTHS = tuple(_WORLD["months"])
FIRST_YEAR, LAST_YEAR, SPAN = 1850, 1989, 30  # years; a passage covers SPAN of them
ACTIONS = tuple(  # (past, base, participle, objects)
    (*forms, tuple(objects.split())) for *forms, objects in _WORLD["actions"]
)
QUALITIES = tuple(_WORLD["qualities"])
MACHINES = tuple(_WORLD["machines"])
MACHINE_KINDS = tuple(tuple(kind.split()) for kind in _WORLD["machine_kinds"])
FILLERS = tuple(_WORLD["fillers"])
