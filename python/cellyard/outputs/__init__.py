"""Folders of results and their provenance."""
