"""Folders of results, and what says where they came from."""
