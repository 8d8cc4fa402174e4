"""Two contexts -> aligned rows; `patch_context` replays them. Lines of one text likewise.

The law, for any two contexts: `patch_context(a, diff_contexts(a, b)) == b`. The idea of a diff as frozen
values is
sqlglot's, the law is nbdime's.
"""
