-- What counts of all that the gradebook holds. Runs that were undone do not.

PRAGMA foreign_keys = ON;
PRAGMA synchronous = FULL;
PRAGMA temp_store = MEMORY; -- of the views

-- What runs have set, each thing once, the last one last.
CREATE TEMP VIEW all_settings AS
SELECT name, value, MAX(run) AS run FROM settings JOIN runs USING (run)
WHERE NOT undone GROUP BY name, value ORDER BY run;

-- Names that turned out to be another's, who is on the class list: what is kept under
-- them is hers or his as long as the run counts that found this out.
-- What was kept while Moodle hid a name is whose the same number is once it shows names:
-- not before, for a group may be called as if its name were hidden.
CREATE TEMP VIEW joined AS
WITH listed AS (
    SELECT one.key AS was, one.value AS now FROM (
        SELECT value, MAX(run) FROM all_settings WHERE name = 'joined' GROUP BY name
    ) AS found, json_each(found.value) AS one
), shown AS (
    SELECT run, 'Participant ' || moodle AS was, IFNULL(now, student) AS now
    FROM main.seen JOIN runs USING (run) LEFT JOIN listed ON was = student
    WHERE NOT undone AND moodle <> '' AND student <> 'Participant ' || moodle
)
SELECT was, now FROM listed
UNION ALL SELECT was, MAX(now) FROM shown WHERE was IN (SELECT student FROM students)
GROUP BY was HAVING COUNT(DISTINCT now) = 1
AND MIN(run) > IFNULL((SELECT MIN(run) FROM main.seen WHERE student = was), 0);
CREATE TEMP VIEW seen AS
SELECT
    run, IFNULL(now, student) AS student, content, source, moodle, place, result,
    refused, time, marked_late
FROM main.seen LEFT JOIN joined ON was = student;
CREATE TEMP VIEW times AS
SELECT run, IFNULL(now, student) AS student, exercise, handed_in
FROM main.times LEFT JOIN joined ON was = student;
CREATE TEMP VIEW adjustments AS
SELECT adjustment, IFNULL(now, student) AS student, exercise, points, reason, made
FROM main.adjustments LEFT JOIN joined ON was = student;
CREATE TEMP VIEW marks AS
SELECT IFNULL(now, student) AS student, exercise, task, answer, points, comment, made
FROM main.marks LEFT JOIN joined ON was = student;
CREATE TEMP VIEW extensions AS -- what was said of the name that holds comes first
SELECT
    IFNULL(now, student) AS student, exercise, until, reason, MAX(now IS NULL)
FROM main.extensions LEFT JOIN joined ON was = student GROUP BY 1, 2;

-- All students, whether Moodle has given the name of one, and whose the name is now.
CREATE TEMP VIEW everybody AS
SELECT students.*, now AS joined, EXISTS (
    SELECT 1 FROM main.seen WHERE seen.student = students.student AND moodle <> ''
) AS moodle, student IN (SELECT student FROM withdrawn) AS gone
FROM students LEFT JOIN joined ON was = student ORDER BY student COLLATE NOCASE;

-- Who is not on the class list or, where there is none, has handed in nothing and has
-- no points by hand.
CREATE TEMP VIEW withdrawn AS
WITH listed AS (
    SELECT value, MAX(run) FROM all_settings WHERE name = 'listed' GROUP BY name
), known AS (
    SELECT student FROM seen JOIN runs USING (run) WHERE NOT undone
    UNION SELECT student FROM adjustments
)
SELECT student FROM students EXCEPT
SELECT json_extract(one.value, '$.student') FROM listed, json_each(listed.value) AS one
EXCEPT SELECT student FROM known WHERE NOT EXISTS (SELECT 1 FROM listed)
-- Whose name Moodle hides is on no list.
EXCEPT SELECT student FROM seen WHERE student = 'Participant ' || moodle;

-- Each content of each student as it was seen last, with its last grade and with the
-- earliest time at which it was handed in: what a name or a table has said since, until
-- a run has seen another file in its place.
CREATE TEMP VIEW hand_ins AS
WITH counting AS (
    SELECT result AS graded, exercise AS answered
    FROM results JOIN runs USING (run) WHERE NOT undone
), sightings AS (
    SELECT
        run, student, content, source, moodle, place, refused,
        MIN(run) OVER same AS first_run,
        MIN(time) OVER same AS time,
        MIN(marked_late) OVER same AS marked_late,
        FIRST_VALUE(graded) OVER (
            PARTITION BY student, content ORDER BY graded IS NULL, run DESC
        ) AS result,
        ROW_NUMBER() OVER (PARTITION BY student, content ORDER BY run DESC) AS age
    FROM seen JOIN runs USING (run) LEFT JOIN counting ON graded = result
    WHERE NOT undone WINDOW same AS (PARTITION BY student, content)
), files AS (
    SELECT sightings.*, exercise, points, of, by_hand
    FROM sightings LEFT JOIN results USING (result) WHERE age = 1
), names AS MATERIALIZED (
    SELECT student AS name, IFNULL(now, student) AS student
    FROM students LEFT JOIN joined ON was = student
), told AS ( -- with the index of the table: the time grows with the number of runs
    SELECT files.student, content, MIN(handed_in) AS told
    FROM files JOIN names USING (student) JOIN main.times AS said
        ON said.student = name AND said.exercise IN ('', files.exercise)
        AND said.run IN ( -- which has had the file, too
            SELECT here.run FROM main.seen AS here JOIN names AS own
                ON own.name = here.student
            WHERE own.student = files.student AND here.content = files.content
            AND here.moodle = '' -- a number has the time of its assignment
        )
    JOIN runs ON runs.run = said.run WHERE NOT undone GROUP BY 1, 2
)
SELECT *, COALESCE(MIN(time, told), time, told) AS handed_in
FROM files LEFT JOIN told USING (student, content);

-- The deadline of each exercise, NULL where it was taken back.
CREATE TEMP VIEW deadlines AS
SELECT one.key AS exercise, one.value AS deadline, MAX(run) AS run
FROM (SELECT * FROM all_settings WHERE name = 'deadlines') AS said,
    json_each(said.value) AS one
GROUP BY 1;

-- Where each student stands in each exercise, and when it is due: a student's own
-- deadline may only be later. Of several files the one counts that the
-- latest run saw, of those of one run the one that was handed in last; where no time is
-- known, one with points, or an answer to mark, before one without, then one that has
-- come later.
CREATE TEMP VIEW standing AS
WITH ranked AS (
    SELECT *, ROW_NUMBER() OVER (
        PARTITION BY student, exercise
        ORDER BY run DESC, IFNULL(handed_in, 0) DESC, place DESC,
            points > 0 OR EXISTS (
                SELECT 1 FROM json_each(by_hand) AS one
                WHERE iif(one.type = 'array', json_extract(one.value, '$[1]'), '') <> ''
            ) DESC, first_run DESC, points DESC, source DESC
    ) AS rank
    FROM hand_ins WHERE result IS NOT NULL
), places AS (
    SELECT student, exercise FROM ranked UNION SELECT student, exercise FROM adjustments
)
SELECT
    student, exercise, source, content, result, points, by_hand, handed_in, until,
    ranked.run, first_run, place, deadline, IFNULL(MAX(deadline, until), deadline) AS due,
    IFNULL(marked_late, 0) AS marked_late,
    IFNULL(ranked.of, (
        SELECT of FROM ranked AS now WHERE now.exercise = places.exercise
        ORDER BY now.rank, now.run DESC LIMIT 1
    )) AS of
FROM places
LEFT JOIN (SELECT * FROM ranked WHERE rank = 1) AS ranked USING (student, exercise)
LEFT JOIN extensions USING (student, exercise)
LEFT JOIN deadlines USING (exercise)
ORDER BY student COLLATE NOCASE, student, exercise;

-- Until when whoever has a deadline of their own has time, in a sentence, and whether
-- they are on the class list.
CREATE TEMP VIEW own_deadlines AS
SELECT student, exercise, printf('%s, %s: %s.', student, exercise, CASE
    WHEN until IS NULL THEN 'due as for all'
    WHEN deadline IS NULL THEN 'there is no deadline for all, so that ' || own || ' has no effect yet'
    WHEN until < deadline THEN own || ' is before the deadline of all, and has no effect'
    ELSE 'due ' || own || ' for this student'
END) AS says
FROM (
    SELECT *, strftime('%Y-%m-%d %H:%M', until, 'unixepoch', 'localtime') AS own
    FROM extensions
) LEFT JOIN deadlines USING (exercise)
UNION ALL SELECT student, exercise,
    printf('%s is no longer on the class list, and is in no table.', student)
FROM (
    SELECT student, exercise FROM adjustments
    UNION SELECT student, exercise FROM extensions
) WHERE student IN (SELECT student FROM withdrawn)
AND EXISTS (SELECT 1 FROM all_settings WHERE name = 'listed');

-- Each answer that somebody reads, of what counts, with its mark, or with the last one
-- of another answer to the task. `standing_now` is a copy of `standing`, which whoever
-- reads this has made.
CREATE TEMP VIEW answers AS
WITH parts AS (
    SELECT student, exercise, one.key AS task, one.id AS place,
        json_extract(one.value, '$[0]') AS of, json_extract(one.value, '$[1]') AS answer
    FROM standing_now, json_each(by_hand) AS one WHERE one.type = 'array'
), fitting AS (
    SELECT parts.*, marks.answer = parts.answer AS own, MIN(of, points) AS points,
        comment, ROW_NUMBER() OVER (
            PARTITION BY student, exercise, task
            ORDER BY marks.answer = parts.answer DESC, made DESC
        ) AS rank
    FROM parts LEFT JOIN marks USING (student, exercise, task)
)
SELECT
    student, exercise, task, of, answer, iif(own, comment, '') AS comment,
    CASE WHEN own THEN points WHEN answer = '' THEN 0.0 END AS points,
    iif(own = 0 AND answer <> '', points, NULL) AS proposed, comment AS says
FROM fitting WHERE rank = 1 ORDER BY student, exercise, place;

-- Exercises that are none any more, in a sentence.
CREATE TEMP VIEW gone AS
SELECT printf(
    'No exercise any more, and left out of totals: %s. If one has another name now, give '
    || 'all its files again, and its deadlines, times and points by hand.',
    GROUP_CONCAT(DISTINCT exercise)
) AS says FROM standing_now
WHERE NOT is_exercise(exercise) AND student NOT IN (SELECT student FROM withdrawn)
HAVING COUNT(*);

-- The latest time that was known for anything that a student handed in.
CREATE TEMP VIEW latest AS
SELECT student, exercise, MAX(time) AS time FROM (
    SELECT run, student, exercise, handed_in AS time FROM times
    UNION ALL
    SELECT seen.run, student, exercise, time FROM seen JOIN results USING (result)
) JOIN runs USING (run) WHERE NOT undone AND time IS NOT NULL GROUP BY 1, 2;

-- What whoever exports should know before.
CREATE TEMP VIEW unready AS
SELECT 'The last run has not come to its end. Give its command again, then export.' AS says
FROM (SELECT ended FROM runs WHERE NOT undone ORDER BY run DESC LIMIT 1)
WHERE ended IS NULL
UNION ALL SELECT printf(
    '%d answers are not marked yet, and have no points so far. See to them with '
    || '`attncourse mark`, then export.', COUNT(*)
) FROM answers
WHERE points IS NULL AND student NOT IN (SELECT student FROM withdrawn) HAVING COUNT(*)
UNION ALL SELECT says FROM gone;

-- What whoever grades should know of a run: where an older file counts again, of whom
-- the run before that saw one had seen another; whose file is later by what this run was
-- told than by an earlier one, for what comes twice is as early as the first; which of
-- several files counts; whose file came as another's, or as one of another version; for
-- whom points by hand count again; which file two students have; who is no longer on the
-- class list; where grades are of several versions; and which exercises are none any more.
CREATE TEMP VIEW notes AS
WITH visits AS (
    SELECT *, LAG(run) OVER visit AS before, MAX(whole) OVER (
        visit ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS whole_before
    FROM (
        SELECT DISTINCT seen.run, student, exercise, iif(ended, seen.run, NULL) AS whole
        FROM seen JOIN runs USING (run) JOIN results USING (result) WHERE NOT undone
    ) WINDOW visit AS (PARTITION BY student, exercise ORDER BY run)
), older AS (
    SELECT DISTINCT standing.run, student
    FROM standing JOIN visits USING (run, student, exercise)
    JOIN hand_ins AS newer USING (student, exercise)
    WHERE newer.run IN (before, whole_before) AND (
        newer.first_run > standing.first_run OR newer.handed_in > standing.handed_in
        OR standing.place > 0 AND newer.place > standing.place
    )
), told AS (
    SELECT run, student, exercise, handed_in, 0 AS marked_late FROM times
    UNION SELECT seen.run, student, exercise, time, seen.marked_late
    FROM seen JOIN results USING (result)
), files AS (
    SELECT run, student, exercise, COUNT(*) AS count FROM hand_ins
    WHERE exercise IS NOT NULL GROUP BY 1, 2, 3 HAVING count > 1
), passed AS ( -- what counts, or counted until another's before came instead
    SELECT later.run, was.student, was.exercise, standing.content,
        GROUP_CONCAT(DISTINCT later.student) AS others
    FROM hand_ins AS was JOIN standing USING (student, exercise)
    JOIN seen AS later ON later.content = was.content AND later.run > was.run
        AND later.student <> was.student
    JOIN runs ON runs.run = later.run
    WHERE NOT undone AND was.content = standing.content
    OR NOT undone AND standing.first_run = later.run AND standing.content IN (
        SELECT content FROM seen
        WHERE seen.run <= was.run AND seen.student <> was.student
    )
    GROUP BY 1, 2, 3, 4
), those AS (
    SELECT passed.run, student, exercise, others, GROUP_CONCAT(
        printf('`attncourse undo %d`', seen.run), ', '
    ) AS undo
    FROM passed JOIN seen USING (student, content) JOIN runs ON runs.run = seen.run
    WHERE NOT undone GROUP BY 1, 2, 3, 4
)
SELECT run, printf(
    'Older files count again (%s takes that back): of %s.', (
        SELECT GROUP_CONCAT(printf('`attncourse undo %d`', run), ', ') FROM runs
        WHERE NOT undone AND run <= older.run AND run > IFNULL((
            SELECT MAX(run) FROM runs WHERE ended AND run < older.run
        ), 0)
    ), GROUP_CONCAT(student, ', ')
) AS says FROM older GROUP BY run
UNION ALL SELECT told.run, printf(
    'The files of %s are known to be earlier than a table says now, and count from ' ||
    'then. If the earlier one was wrong, undo its run.',
    GROUP_CONCAT(DISTINCT student || ', ' || exercise)
) FROM told JOIN standing USING (student, exercise)
WHERE told.handed_in > standing.handed_in OR told.marked_late > standing.marked_late
    AND standing.handed_in IS NULL
GROUP BY told.run
UNION ALL SELECT files.run, printf(
    '%s, %s: %d files. %s counts.', student, exercise, count, source
) FROM files JOIN standing USING (student, exercise)
UNION ALL SELECT run, printf(
    'A file of %s came as one of %s now. If what counts for the former is another''s, '
    || 'take it back with %s, and grade again.',
    GROUP_CONCAT(student || ', ' || exercise, '; '), others, undo
) FROM those GROUP BY run, others, undo
UNION ALL SELECT run, printf(
    '%s: files of another version of the exercise than the one in use: %d. What both '
    || 'versions ask for is graded, and the pages say so.', exercise, COUNT(*)
) FROM standing_now JOIN (SELECT result, record FROM results) USING (result)
WHERE iif(json_valid(record), json_extract(record, '$.notes'), '')
    LIKE '%This is another version of the exercise%'
GROUP BY run, exercise
UNION ALL SELECT said.run, printf(
    'New files of %s have the time that a table gave for earlier ones. Is it older?',
    GROUP_CONCAT(DISTINCT student || ', ' || standing_now.exercise)
) FROM standing_now JOIN times AS said USING (student, exercise)
JOIN times AS former USING (student, exercise)
JOIN runs ON runs.run = former.run AND NOT undone
WHERE said.run >= first_run AND former.run < first_run
AND former.handed_in = said.handed_in AND EXISTS (
    SELECT 1 FROM seen JOIN results USING (result)
    WHERE seen.student = standing_now.student AND seen.run < first_run
    AND seen.run >= former.run AND results.exercise = standing_now.exercise
) GROUP BY said.run
UNION ALL SELECT first_run, printf(
    'Points by hand, given for an earlier file, count for a new one, too: of %s.',
    GROUP_CONCAT(DISTINCT student || ', ' || standing_now.exercise)
) FROM standing_now JOIN adjustments USING (student, exercise)
JOIN runs ON runs.run = first_run
WHERE made < started AND EXISTS (
    SELECT 1 FROM seen JOIN results USING (result)
    WHERE seen.student = standing_now.student AND seen.run < first_run
    AND results.exercise = standing_now.exercise
    AND seen.content <> standing_now.content
) GROUP BY first_run
UNION ALL SELECT run, printf(
    'One and the same file came from %s. Is it in a wrong place for one of them?', names
) FROM (
    SELECT seen.run, REPLACE(GROUP_CONCAT(DISTINCT student), ',', ', ') AS names
    FROM seen JOIN results USING (result)
    WHERE points > 0 GROUP BY seen.run, result
    HAVING COUNT(DISTINCT student) > 1 AND COUNT(DISTINCT source) > 1
) UNION ALL SELECT (SELECT MAX(run) FROM runs), printf(
    'No longer on the class list, and left out of tables: %s.', GROUP_CONCAT(
        student || iif(
            student IN (
                SELECT student FROM adjustments UNION SELECT student FROM marks
                UNION SELECT student FROM extensions
            ), ' (who has points or a deadline by hand)', ''
        ), ', '
    )
) FROM withdrawn WHERE student NOT IN (SELECT was FROM joined)
AND student NOT GLOB 'Participant [0-9]*' -- whose name Moodle hides is on no list
AND EXISTS (SELECT 1 FROM all_settings WHERE name = 'listed') HAVING COUNT(*)
UNION ALL SELECT MAX(run), printf(
    '%s: its grades are of %d versions of the exercise or its solution%s. Give all its '
    || 'files again.', exercise, COUNT(DISTINCT version),
    iif(MIN(of) < MAX(of), printf(', with maxima from %g to %g', MIN(of), MAX(of)), '')
) FROM standing JOIN (SELECT result, version FROM results) USING (result)
WHERE student NOT IN (SELECT student FROM withdrawn)
GROUP BY exercise HAVING COUNT(DISTINCT version) > 1
UNION ALL SELECT (SELECT MAX(run) FROM runs), says FROM gone;

-- Whose each of Moodle's numbers is, which are of one assignment.
CREATE TEMP VIEW numbers AS
SELECT DISTINCT exercise, moodle, student
FROM seen JOIN results USING (result) JOIN runs ON runs.run = seen.run
WHERE moodle <> '' AND NOT undone;

-- The numbers of the groups in Moodle that people's files are of.
CREATE TEMP VIEW groups AS
SELECT student, exercise, place AS number FROM hand_ins
WHERE place > 0 AND source LIKE '%\_assignsubmission\_%' ESCAPE '\';

-- Files that could not be graded and that nothing has replaced.
CREATE TEMP VIEW refusals AS
WITH last AS (SELECT *, MAX(run) OVER (PARTITION BY student) AS last FROM hand_ins)
SELECT *, source || ': ' || refused AS says
FROM last WHERE refused <> '' AND run = last;

-- What the last run has left out, in a sentence each.
CREATE TEMP VIEW left_out AS
SELECT says FROM (
    SELECT says, 1 AS kind, rowid AS place FROM problems
    WHERE run = (SELECT MAX(run) FROM runs WHERE NOT undone)
    UNION ALL
    SELECT printf('%s: not graded. %s', source, refused), 2, 0 FROM refusals
) GROUP BY says ORDER BY MIN(kind), MIN(place);

-- All runs, in a sentence each.
CREATE TEMP VIEW all_runs AS
SELECT printf(
    'run %d  %s  %d files, %d graded%s%s%s', run,
    strftime('%Y-%m-%d %H:%M', started, 'unixepoch', 'localtime'),
    (SELECT COUNT(*) FROM seen WHERE seen.run = runs.run),
    (SELECT COUNT(*) FROM results WHERE results.run = runs.run),
    iif(undone, ', undone', ''), iif(undone, (
        SELECT IFNULL(' with its ' || GROUP_CONCAT(what, ', '), '') FROM (
            SELECT iif(name = 'listed', 'class list', name) AS what FROM settings
            WHERE settings.run = runs.run AND value NOT IN ('{}', '[]')
            AND name IN ('listed', 'deadlines', 'penalty')
            UNION SELECT 'times' FROM main.times AS said WHERE said.run = runs.run
        )
    ), ''), iif(ended IS NULL, ', cut off', '')
) AS says FROM runs ORDER BY run;

-- All that happened to a student, in a sentence each.
CREATE TEMP VIEW history AS
WITH happened AS (
    SELECT student, 1 AS kind, seen.run AS place, source, started AS made,
        printf('run %d, ', seen.run) AS before,
        source || '  ' || CASE
            WHEN refused <> '' THEN 'not graded: ' || refused
            WHEN points IS NULL THEN 'not graded'
            ELSE printf(
                '%s, %g points, graded in run %d, exercise as of %s', exercise,
                points, results.run, version
            )
        END || iif(undone, ', undone', '') AS says
    FROM seen JOIN runs USING (run) LEFT JOIN results USING (result)
    UNION ALL
    SELECT student, 2, adjustment, '', made, '',
        printf('by hand: %s %+g. %s', exercise, points, reason)
    FROM adjustments
    UNION ALL
    SELECT student, 3, made, '', made, '',
        printf('marked: %s, %s: %g points. %s', exercise, task, points, comment)
    FROM marks
    UNION ALL
    SELECT student, 4, until, exercise, until, 'until ',
        RTRIM(printf('%s, extended. %s', exercise, reason))
    FROM extensions WHERE until IS NOT NULL
)
SELECT student, printf(
    '%s%s  %s', before, strftime('%Y-%m-%d %H:%M', made, 'unixepoch', 'localtime'), says
) AS says FROM happened ORDER BY kind, place, source;
