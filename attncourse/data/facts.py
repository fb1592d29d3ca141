"""The invented world of `passages`: people, works, places, dates."""


def _words(text):
    return tuple(text.split())


def _phrases(text):
    return tuple(tuple(phrase.split()) for phrase in text.split("|"))


MEN = _words("Adam Carlos David Felix Hugo Ivan Karim Leon Marco Oscar Paul Tom")
WOMEN = _words("Alice Clara Diana Elena Grace Irene Julia Laura Maria Nora Rosa Sofia")
SURNAMES = _words(
    "Adler Bauer Castro Duval Ferrari Hansen Ito Jansen Kovacs Lindgren Moreau Novak "
    "Okafor Petrov Quinn Rossi Silva Tanaka Usman Weber"
)
TOWNS = _phrases(
    "Lisbon|Oslo|Vienna|Cairo|Lima|Kyoto|Dublin|Prague|Geneva|Nairobi|New York|"
    "Cape Town|Buenos Aires|San Marino"
)
MONTHS = _words(
    "January February March April May June July August September October November "
    "December"
)
FIRST_YEAR, LAST_YEAR, SPAN = 1850, 1989, 30  # years; a passage covers SPAN of them

_ACTIONS = """
built | build | built | bridge tower lighthouse theatre
wrote | write | written | novel poem report opera
painted | paint | painted | portrait mural landscape
opened | open | opened | school bakery library hospital
founded | found | founded | newspaper orchestra company
repaired | repair | repaired | organ clock windmill
discovered | discover | discovered | cave comet island
bought | buy | bought | farm ship hotel
sold | sell | sold | castle mine vineyard
planned | plan | planned | canal park railway
"""
ACTIONS = tuple(  # (past, base, participle, objects)
    (past.strip(), base.strip(), participle.strip(), _words(objects))
    for past, base, participle, objects in (
        line.split("|") for line in _ACTIONS.strip().splitlines()
    )
)
QUALITIES = _words("famous large small old new beautiful strange")

MACHINES = _words("ALTAIR-3 BORA CETUS DELOS FAROS GALENA HELIX KRONOS")
MACHINE_KINDS = _phrases(
    "an electronic computer|a mechanical calculator|a weather computer|"
    "a printing machine|a general-purpose computer|a chess machine"
)
FILLERS = (
    "the winter was long and cold",
    "many people came to see it",
    "the newspapers wrote about it for weeks",
    "nobody had expected this",
    "the harvest was good that year",
    "not everybody was pleased",
)
