"""Alerts: what a night has to say to people, each thing once, through any channel that apprise speaks.

``events.py`` says what a board gives rise to, ``outbox.py`` keeps and sends it. What is kept is sent until a channel
has taken it: over restarts, and over a channel that is down for an hour.
"""
