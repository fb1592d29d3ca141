-- Whatever a run has written carries its number, so that a run can be undone: nothing
-- that it found counts then, and what counted before counts again.
CREATE TABLE runs (
    run INTEGER PRIMARY KEY, started REAL NOT NULL, ended REAL, secret TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE settings (
    run INTEGER NOT NULL REFERENCES runs, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (name, run)
);
CREATE TABLE problems (run INTEGER NOT NULL REFERENCES runs, says TEXT NOT NULL);
CREATE TABLE students (
    student TEXT PRIMARY KEY, name TEXT NOT NULL, id TEXT NOT NULL,
    user TEXT NOT NULL, email TEXT NOT NULL, canvas TEXT NOT NULL,
    section TEXT NOT NULL, page TEXT NOT NULL UNIQUE COLLATE NOCASE
);
CREATE TABLE results (
    result INTEGER PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
    exercise TEXT NOT NULL, version TEXT NOT NULL, points REAL NOT NULL,
    of REAL NOT NULL, record TEXT NOT NULL, answers TEXT NOT NULL,
    by_hand TEXT NOT NULL, -- {task: [points, hash of the answer]}
    graded REAL NOT NULL, run INTEGER NOT NULL REFERENCES runs
);
CREATE INDEX result_of_key ON results (key);
CREATE INDEX result_of_content ON results (content);
-- Which run has seen which file, and what came of it. A content counts from when it
-- came first, whatever the file is called later.
CREATE TABLE seen (
    run INTEGER NOT NULL REFERENCES runs, student TEXT NOT NULL REFERENCES students,
    content TEXT NOT NULL, source TEXT NOT NULL, moodle TEXT NOT NULL,
    place INTEGER NOT NULL, result INTEGER REFERENCES results,
    refused TEXT NOT NULL, time REAL, marked_late INTEGER NOT NULL,
    PRIMARY KEY (student, content, run)
);
-- What tables have said about when something was handed in; "" is every exercise.
CREATE TABLE times (
    run INTEGER NOT NULL REFERENCES runs, student TEXT NOT NULL,
    exercise TEXT NOT NULL, handed_in REAL NOT NULL,
    PRIMARY KEY (student, exercise, run)
);
CREATE TABLE adjustments (
    adjustment INTEGER PRIMARY KEY, student TEXT NOT NULL REFERENCES students,
    exercise TEXT NOT NULL, points REAL NOT NULL, reason TEXT NOT NULL,
    made REAL NOT NULL
);
CREATE TABLE marks (
    student TEXT NOT NULL REFERENCES students, exercise TEXT NOT NULL,
    task TEXT NOT NULL, answer TEXT NOT NULL, points REAL NOT NULL,
    comment TEXT NOT NULL, made REAL NOT NULL,
    PRIMARY KEY (student, exercise, task, answer)
);
CREATE TABLE extensions (
    student TEXT NOT NULL REFERENCES students, exercise TEXT NOT NULL, until REAL,
    reason TEXT NOT NULL, PRIMARY KEY (student, exercise)
);
