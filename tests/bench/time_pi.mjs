// node time_pi.mjs MODULE ENTRIES KEEP ROUNDS: seconds of pi's planning per round, as JSON.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [module, file, keep, rounds] = process.argv.slice(2);
const pi = await import(pathToFileURL(module).href);
const entries = readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
const settings = { ...pi.DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: Number(keep) };

function time(work) {
  return Array.from({ length: Number(rounds) }, () => {
    const start = performance.now();
    work();
    return (performance.now() - start) / 1000;
  });
}

const cut = () => pi.findCutPoint(entries, 0, entries.length, settings.keepRecentTokens);
const prepare = () => pi.prepareCompaction(entries, settings);
const seconds = { findCutPoint: time(cut), prepareCompaction: time(prepare) };
console.log(JSON.stringify({ seconds, first_kept: cut().firstKeptEntryIndex }));
