"""Lessons as data: files of steps, each with a picture and perhaps a question."""
