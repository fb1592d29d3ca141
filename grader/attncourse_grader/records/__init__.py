"""What is kept of a course, and the tables and pages that are made from it.

`gradebook` keeps hand-ins, results and adjustments in a `database` that several runs
may share; `students` reads class lists and `late` deadlines and penalties. `standing`
puts these together: where each student stands in each exercise. From that, `outputs`
writes feedback, `class_page` the page of the class with what `likeness` finds alike,
and `exports` tables, in the forms of `lms` for Moodle and Canvas.
"""
