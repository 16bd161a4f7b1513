/** Splits a run's seconds into steps, using its own log. A step ends with the last of its events. */

interface LogEvent {
  at: string;
  event: string;
  what?: string;
  table?: string;
}

/** Tables that are staged last, after the comparisons and checks. */
const LEDGER = ['runs', 'check_results', 'rejects'];

const ENDS: readonly [step: string, isEnd: (event: LogEvent) => boolean][] = [
  ['open', ({ event }) => event === 'plan'],
  ['land and type', ({ event, what }) => event === 'landed' && what !== 'hydration'],
  ['normalize', ({ event }) => event === 'settled'],
  ['items', ({ event, table }) => event === 'staged' && (table === 'items' || table === 'history')],
  ['derived', ({ event, table }) => event === 'staged' && !LEDGER.includes(table ?? '')],
  ['compare', ({ event }) => event === 'sample.compared' || event === 'usage'],
  ['checks', ({ event }) => event === 'audited'],
  ['commit', ({ event }) => event === 'committed' || event === 'pointed'],
];

/**
 * Lists the steps that took at least a tenth of a second, in order. `begun` is when the process started, in
 * milliseconds.
 */
export function readSteps(log: string, begun: number, seconds: number): Record<string, number> {
  const events = log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogEvent);
  const steps: Record<string, number> = {};
  let last = begun;
  const note = (step: string, end: number) => {
    if (end - last >= 100) steps[step] = (end - last) / 1000;
    last = Math.max(last, end);
  };
  for (const [step, isEnd] of ENDS) {
    const end = events.findLast(isEnd);
    if (end !== undefined) note(step, Date.parse(end.at));
  }
  note('close', begun + seconds * 1000);
  return steps;
}
