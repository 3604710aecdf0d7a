"""A study that is run: the public name of `cellyard.study.reproduce`."""

from cellyard.study.reproduce import Reproduction as Reproduction
