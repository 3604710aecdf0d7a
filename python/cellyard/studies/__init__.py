"""The published studies, each as data and small scripts."""
