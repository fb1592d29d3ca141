"""What is kept of a course, and the tables and pages that are made from it."""
