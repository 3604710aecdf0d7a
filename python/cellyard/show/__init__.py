"""How results look: text, tables, pages, notebooks and the words of sentences."""
