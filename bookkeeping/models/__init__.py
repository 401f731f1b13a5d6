"""The model boundary: which models there are, and at which endpoints their providers serve them."""

PROVIDER_ENDPOINTS = frozenset({"https://api.anthropic.com", "in-process"})
"""Endpoints that are the provider's own: a board made against any other cannot gate unless settings allow it."""
