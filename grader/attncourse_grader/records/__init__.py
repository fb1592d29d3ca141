"""What is kept of a course, and the tables and pages that are made from it.

`gradebook` keeps hand-ins, results and adjustments in a `database` that several runs
may share; `late` knows deadlines and penalties. `effective` puts these together: where
each student stands in each exercise. From that, `exports` writes feedback, tables, in
the forms of `lms` for Moodle and Canvas, and the page of the class, which `class_page`
makes with what `similarity` finds alike.
"""
