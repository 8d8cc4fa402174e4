# The names that most people need, in the order in which they come up. The rest stands in each room.

__version__: str

# open, read, count
from .demo import open_demo as open_demo
from .files import open_session as open_session
from .files import open_sessions as open_sessions
from .formats.harnesses.claude_code.recorded_requests import read_requests as read_requests
from .library import sessions as sessions
from .files import save_session as save_session
from .redaction.clean import redact_session as redact_session
from .files import open_plan as open_plan
from .files import save_plan as save_plan
from .files import reopen_session as reopen_session
from .formats.readers import read_session as read_session
from .session.blocks import Block as Block
from .session.blocks import BlockRef as BlockRef
from .session.entries import Entry as Entry
from .session.entries import Usage as Usage
from .session.session import Session as Session
from .tokens.ledger import Ledger as Ledger
from .tokens.ledger import count_tokens as count_tokens
from .tokens.cost import price_session as price_session

# plan a compaction, and look at what it leaves
from .cuts import find_cuts as find_cuts
from .policies.registry import find_policy as find_policy
from .policies.registry import list_policies as list_policies
from .policies.registry import add_policy as add_policy
from .policies.policy import Policy as Policy
from .policies.policy import Edits as Edits
from .policies.trigger import Trigger as Trigger
from .policies.base_rule import Rule as Rule
from .policies.custom_rule import rule as rule
from .planning.plan import Plan as Plan
from .planning.planner import make_plan as make_plan
from .planning.context import Context as Context
from .planning.context import Piece as Piece
from .planning.assemble import live_context as live_context
from .planning.assemble import build_context as build_context
from .planning.diff.contexts import diff_contexts as diff_contexts

# send it
from .wire.render import render_request as render_request
from .wire.checks import check_request as check_request
from .wire.checks import check_context as check_context
from .wire.context_management import context_management as context_management

# what it loses, and why
from .facts.facts import Facts as Facts
from .facts.traced import Trace as Trace
from .facts.trace import trace_recorded as trace_recorded
from .facts.keep import keep_facts as keep_facts
from .facts.fixes import write_focus as write_focus
from .facts.regret import find_regret as find_regret
from .facts.regret import sum_regret as sum_regret
from .facts.lint.check import lint as lint
from .facts.lint.codes import LINT_CODES as LINT_CODES

# do it
from .planning.summary_jobs import SummaryJob as SummaryJob
from .planning.summary_jobs import Checkpoint as Checkpoint
from .summaries.extractive.summariser import ExtractiveSummariser as ExtractiveSummariser
from .summaries.claude.summariser import ClaudeSummariser as ClaudeSummariser
from .summaries.claude.labeller import ClaudeLabeller as ClaudeLabeller
from .summaries.write import summarise as summarise
from .summaries.write import checkpoint_from_text as checkpoint_from_text
from .summaries.compaction import compact as compact
from .summaries.store import save_compaction as save_compaction
from .summaries.store import open_earlier as open_earlier
from .formats.exports.writers import export_session as export_session

# the whole session again, under any policy
from .replays.scenario import Scenario as Scenario
from .replays.engine import replay as replay
from .replays.run import Run as Run
from .replays.comparison import compare_policies as compare_policies
from .replays.decay import compact_rounds as compact_rounds
from .replays.decay import DecayLine as DecayLine

# many sessions at once
from .corpus.scanning import scan as scan

# see it
from .jupyter.widget import Workbench as Workbench
from .jupyter.lesson_files import open_lesson as open_lesson
from .workbench.page.export import export_html as export_html
from .workbench.charts.decay import draw_decay as draw_decay
from .jupyter.magic import load_ipython_extension as load_ipython_extension
from .jupyter.magic import unload_ipython_extension as unload_ipython_extension

from .errors import InspectorError as InspectorError
