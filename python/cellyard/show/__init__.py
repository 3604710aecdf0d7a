"""Presentation of results: text, tables, pages, notebooks and the words of sentences."""
