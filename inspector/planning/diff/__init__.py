"""Two contexts -> aligned rows, and two texts -> their common, removed and added pieces.

The law, for any two contexts: the rows hold all pieces of both, in order, so a diff gives the second context
back from the first. The idea of a diff as frozen values is sqlglot's, the law is nbdime's.
"""
