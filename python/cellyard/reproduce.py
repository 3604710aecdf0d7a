"""Reproduction of studies: the public name of `cellyard.study.reproduce`."""

from cellyard.study.reproduce import Reproduction as Reproduction
