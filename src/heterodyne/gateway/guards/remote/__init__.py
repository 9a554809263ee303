"""Asks guards that are not our own code, for requests and answers that wait for them and for those that do not."""
