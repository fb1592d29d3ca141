"""What is handed out and handed in: exercises, archives, class lists, submissions."""
