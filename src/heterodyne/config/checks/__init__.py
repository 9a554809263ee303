"""Cross-checks of settings, one file for each subject."""
