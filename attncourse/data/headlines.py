"""The words of `news`: topics, offices, and what can happen to a plan."""


def _lines(text):
    return tuple(line.strip() for line in text.strip().splitlines())


TOPICS = tuple(
    f"the {place} {thing}"
    for place in ("harbour", "river", "market", "station", "island", "mountain")
    for thing in ("bridge", "school", "hospital", "museum", "park", "tunnel")
)
TOWNS = _lines("Ashford\nBelport\nCarden\nDunmore\nEastley\nFairholm\nGranby\nHolmby")
OFFICES = _lines(
    "the city council\nthe mayor\nthe ministry\nthe planning office\nthe court"
)
PEOPLE = _lines(
    "a baker\na teacher\na neighbour\na taxi driver\nan engineer\na student\na doctor"
)
DAYS = _lines("Monday\nTuesday\nWednesday\nThursday\nFriday\nSaturday\nSunday")
MONTHS = _lines("January\nMarch\nApril\nJune\nSeptember\nNovember")

# News about a topic: sentence | how the summary says it. Each group is one kind of
# news; an article has one of each kind about its topic.
EVENTS = tuple(
    _lines(group)
    for group in (
        """
        {office} approved plans for {topic} on {day} | \
{office} approved plans for {topic}
        {office} stopped all work on {topic} on {day} | \
{office} stopped work on {topic}
        on {day} {office} announced the sale of {topic} | \
{office} announced the sale of {topic}
        """,
        """
        {topic} will cost {number} million euros , officials said | \
{topic} will cost {number} million euros
        {topic} will save {town} as much as {number} million euros a year | \
{topic} will save {town} {number} million euros a year
        """,
        """
        work on {topic} is now expected to begin in {month} | \
work on {topic} is expected to begin in {month}
        {topic} is expected to open its doors to visitors in {month} | \
{topic} is expected to open to visitors in {month}
        {topic} could create up to {number} jobs in {town} | \
{topic} could create {number} jobs in {town}
        """,
    )
)

# What is said about a topic without being news.
BACKGROUND = _lines(
    """
    {person} from {town} said that {topic} was an old dream
    people in {town} have talked about {topic} for {number} years
    {topic} was first mentioned in a letter to the newspaper
    {person} told us a long story about {topic}
    a drawing of {topic} hangs in the town hall of {town}
    {person} painted a picture of {topic} for the children
    visitors from {town} often ask about {topic}
    """
)

# Sentences about nothing in particular.
ASIDES = _lines(
    """
    the weather in {town} stayed dry all week
    the coffee in the town hall was served cold , as always
    it was a quiet morning in {town}
    buses in {town} were late on {day}
    """
)
