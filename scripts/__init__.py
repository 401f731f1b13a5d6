"""Programs for those who work on the project; nothing imports them but their tests."""
