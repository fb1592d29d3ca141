"""English sentences with grammatical links, and pairs of paraphrases.

Written and annotated by hand for this course. The links follow Universal Dependencies
but for their direction: a determiner, a possessive and a preposition point at their
noun, a verb points at its subject and its object.
"""

RELATIONS = {
    "det": "determiner → noun",
    "poss": "possessive → noun",
    "prep": "preposition → noun",
    "subj": "verb → subject",
    "obj": "verb → object",
}
# Each sentence, and below it its links, by relation: places counted from 0.
_ANNOTATED = """
The dog that my neighbour bought chased the small cat .
    det 0-1 7-9 | poss 3-4 | subj 6-1 5-4 | obj 6-9
A young doctor with a red bag opened the heavy door .
    det 0-2 4-6 8-10 | prep 3-6 | subj 7-2 | obj 7-10
Her brother sold his old car to a student from the city .
    poss 0-1 3-5 | det 7-8 10-11 | prep 6-8 9-11 | subj 2-1 | obj 2-5
The teachers in our school rarely read long letters .
    det 0-1 | prep 2-4 | poss 3-4 | subj 6-1 | obj 6-8
Yesterday the tall woman carried two heavy boxes up the stairs .
    det 1-3 9-10 | prep 8-10 | subj 4-3 | obj 4-7
The farmer whose horse won the race bought another field .
    det 0-1 5-6 8-9 | poss 2-3 | subj 4-3 7-1 | obj 4-6 7-9
My youngest sister has finally painted the whole kitchen .
    poss 0-2 | det 6-8 | subj 5-2 | obj 5-8
The picture of the three ships hangs above his desk .
    det 0-1 3-5 | prep 2-5 7-9 | poss 8-9 | subj 6-1
After the long meeting the manager called a new lawyer .
    prep 0-3 | det 1-3 4-5 7-9 | subj 6-5 | obj 6-9
Their little son broke the blue glass on the table .
    poss 0-2 | det 4-6 8-9 | prep 7-9 | subj 3-2 | obj 3-6
The city that we visited has a very famous bridge .
    det 0-1 6-9 | subj 5-1 4-3 | obj 5-9
A letter from my aunt surprised the whole family .
    det 0-1 6-8 | prep 2-4 | poss 3-4 | subj 5-1 | obj 5-8
The old king of the northern island lost his crown .
    det 0-2 4-6 | prep 3-6 | poss 8-9 | subj 7-2 | obj 7-9
Some guests at the party brought their own food .
    det 0-1 3-4 | prep 2-4 | poss 6-8 | subj 5-1 | obj 5-8
The nurse quickly closed all the windows in the room .
    det 0-1 5-6 8-9 | prep 7-9 | subj 3-1 | obj 3-6
During the war her father wrote several short books .
    prep 0-2 | det 1-2 | poss 3-4 | subj 5-4 | obj 5-8
The girl in the green coat has lost her ticket .
    det 0-1 3-5 | prep 2-5 | poss 8-9 | subj 7-1 | obj 7-9
Every winter the birds leave our cold northern valley .
    det 0-1 2-3 | poss 5-8 | subj 4-3 | obj 4-8
The judge who heard the case asked many difficult questions .
    det 0-1 4-5 | subj 6-1 | obj 3-5 6-9
Your new neighbour planted a beautiful tree behind the house .
    poss 0-2 | det 4-6 8-9 | prep 7-9 | subj 3-2 | obj 3-6
"""
PARAPHRASES = (
    ("The child is eating an apple.", "A kid eats a piece of fruit."),
    ("He repaired the car himself.", "The vehicle was fixed by him alone."),
    ("The film was extremely boring.", "I found the movie very dull."),
    ("She teaches mathematics at a school.", "She works as a maths teacher."),
    ("It rained heavily all night.", "The downpour lasted until the morning."),
    ("The shop closes at six.", "After six o'clock the store is shut."),
    ("They postponed the wedding.", "The marriage will take place later."),
    ("Our team lost the match.", "We were beaten in the game."),
    ("The doctor gave me some pills.", "I got tablets from my physician."),
    ("The train was delayed by snow.", "Snowfall made the train late."),
    ("He is looking for a new job.", "He wants to find other employment."),
    ("The dog barked at the postman.", "The mail carrier was barked at by a dog."),
)


def annotated_sentences():
    """Return twenty sentences with their grammatical links.

    Returns
    -------
    list of tuple
        Each sentence as a list of words, and a dict from the keys of `RELATIONS` to
        lists of links ``(query, key)``, places counted from 0.
    """
    lines = _ANNOTATED.strip().splitlines()
    sentences = []
    for words, below in zip(lines[::2], lines[1::2], strict=True):
        links = {}
        for part in below.split("|"):
            relation, *pairs = part.split()
            links[relation] = [tuple(map(int, pair.split("-"))) for pair in pairs]
        sentences.append((words.split(), links))
    return sentences
