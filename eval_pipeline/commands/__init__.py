"""What each command of the command line does, once its arguments are read."""
