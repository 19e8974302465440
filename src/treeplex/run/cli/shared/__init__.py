"""What commands share: arguments, printing for people, progress, and errors as exit codes."""
