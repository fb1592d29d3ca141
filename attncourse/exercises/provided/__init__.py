"""What the notebooks of the exercises give to students: models, data and tables."""
