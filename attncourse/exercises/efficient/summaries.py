"""What may be made of repeated times in place of their median: for task 5.6."""

import statistics

# What may be made of the measured times, by what is said of it.
SUMMARIES = (
    (
        "mean in place of the median",
        "This is the mean. One call that met a busy machine moves it far; the median "
        "hardly notices.",
        statistics.fmean,
    ),
    ("the sum of the repeats", "The times of all repeats are added up.", sum),
    (
        "the shortest in place of the median",
        "This is the shortest time. It is a sound measure of something else: here the "
        "median is asked for.",
        min,
    ),
    (
        "the longest in place of the median",
        "This is the longest time: the one call that met a busy machine.",
        max,
    ),
    (
        "the middle call, not the middle time",
        "This is the time of the call in the middle, in the order of the calls. The "
        "median is in the middle when the times are *sorted*.",
        lambda times: times[len(times) // 2],
    ),
    (
        "divided by the repeats",
        "The median is divided by the number of repeats. It is the time of one call "
        "already.",
        lambda times: statistics.median(times) / len(times),
    ),
    (
        "one call left out",
        "One of the measured calls is left out of the median. The call that warms up "
        "comes *besides* the repeats.",
        lambda times: statistics.median(times[1:]),
    ),
    (
        "one call left out",
        "The last of the measured calls is left out of the median.",
        lambda times: statistics.median(times[:-1]),
    ),
    (
        "the extremes left out",
        "The shortest and the longest time are left out, and the rest is averaged. The "
        "median is asked for.",
        lambda times: statistics.fmean(sorted(times)[1:-1]),
    ),
    (
        "the mean of the extremes",
        "This is half-way between the shortest and the longest time. The median is the "
        "middle one of the *times*.",
        lambda times: (min(times) + max(times)) / 2,
    ),
)
