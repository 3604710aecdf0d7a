"""The studies: data and a small script each."""
