"""extractive"""
