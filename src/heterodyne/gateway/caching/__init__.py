"""Answers that are given again: looked up before a request is admitted, kept when a replica's answer is whole."""
