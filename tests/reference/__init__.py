"""Published behaviour that this package does not have, written down to hold it to: only tests call it.

event_order           which order of a replay's events is possible
prompt_cache          which part of two requests differs, and so what a provider's cache misses
spill                 what is shown of a tool output that is too long, and the name of its file
context_management    an Anthropic request's `context_management`, read back into rules
flue_2                what Flue 2 takes its budgets from
stud                  what the stud-cli wiki lets a user do, and swap
"""
