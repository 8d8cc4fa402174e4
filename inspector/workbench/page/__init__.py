"""The page that works without Python: every answer worked out beforehand."""
