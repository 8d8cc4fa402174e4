"""What a summariser is shown, laid out as Flue does; the package lays it out its own way."""

from __future__ import annotations

from inspector.planning.summary_jobs import SummaryJob
from inspector.session.session import Session
from inspector.summaries.material import job_text


def request_text(session: Session, job: SummaryJob) -> str:
    """What the summariser is shown before its instructions (FLUE §10.2)."""
    text = f"<conversation>\n{job_text(session, job)}\n</conversation>\n\n"
    if job.previous:
        text += f"<previous-summary>\n{job.previous}\n</previous-summary>\n\n"
    return text
