"""The project's pages for people: readme, notes for whoever is on call, change log, the board itself."""

from __future__ import annotations

README = """# tidepool

Tide tables for forty small harbours, on boards, telephones and paper.

The Hydrographic Office sends a signed almanac once a year. This service reads it, turns its moments into
the clock on each harbour's wall, and shows them where people look: the board by the steps, a text message
the evening before, a calendar that boats subscribe to.

    make serve          the boards, on port 8400
    make test           all tests
    python -m tidepool print gull-haven 2026-06-21

Times inside are UTC and have no zone attached. Heights are metres above chart datum.

## Where things are

| folder | is |
|---|---|
| `almanac/` | reading the almanac and checking its seal |
| `predict/` | our own prediction, for harbours the almanac leaves out |
| `stations/` | harbours, gauges, datums, locks |
| `render/` | table, text message, calendar |
| `jobs/` | what happens at night |
| `api/` | what boards ask for |
"""

RUNBOOK = """# When a board is wrong

Whoever is on call has this page and a telephone. Write down what you did and when.

## The board is blank

The almanac was refused. Look for `BadSeal` in the log; the line has the digest it found. Do not try to
mend the file. Ring the Hydrographic Office between eight and four; they send a fresh one within the hour.

## Heights are wrong

1. Compare with the gauge by the steps, not with memory.
2. `python -m tidepool gauge SLUG` prints the last six readings.
3. A constant difference is a datum, a growing one is a gauge that has come loose.

## Texts do not arrive

The exchange takes batches at six and at ten in the evening. `python -m tidepool outbox` shows what waits.

## Times are wrong

(nobody has written this yet)
"""

CHANGELOG = """# Changes

## 4.7.0 - 2026-02-16

- Boards on paper have page numbers.
- The gauge at Kelp Ness may be silent for two days before anybody is woken.

## 4.6.2 - 2026-01-05

- New almanac. Harbours it leaves out are predicted as before.
- Texts are cut at 70 characters and no longer at 160.

## 4.6.1 - 2025-11-30

- The lock at Oyster Hythe opens for boats of up to 2.4 m draught.
"""

BOARD = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>{{ harbour.name }}: tides today</title>
    <link rel="stylesheet" href="/static/board.css">
    <script type="module" src="/static/board.js"></script>
  </head>
  <body data-slug="{{ harbour.slug }}">
    <h1>{{ harbour.name }}</h1>
    <p class="clock">Times by the clock on the wall ({{ harbour.zone }})</p>
    <table id="tides"><caption>{{ day }}</caption></table>
    <footer>Not for navigation. Ask the harbour master.</footer>
  </body>
</html>
"""

SCRIPT = """// Fills the board, and keeps the last answer for the nights when the line is down.
const KEEP = 26 * 60 * 60 * 1000;

export async function load(slug) {
  const kept = read(slug);
  if (kept && Date.now() - kept.at < KEEP) return kept.rows;
  const answer = await fetch(`/boards/${slug}/today`);
  if (!answer.ok) return kept ? kept.rows : [];
  const { rows } = await answer.json();
  localStorage.setItem(`tides:${slug}`, JSON.stringify({ at: Date.now(), rows }));
  return rows;
}

function read(slug) {
  try {
    return JSON.parse(localStorage.getItem(`tides:${slug}`));
  } catch {
    return null;
  }
}

export function draw(table, rows) {
  for (const row of rows) {
    const line = table.insertRow();
    line.className = row.kind;
    for (const words of [row.at, row.kind === "high" ? "HIGH" : "low", `${row.m.toFixed(1)} m`]) {
      line.insertCell().textContent = words;
    }
  }
}

const slug = document.body.dataset.slug;
load(slug).then((rows) => draw(document.querySelector("#tides"), rows));
"""
