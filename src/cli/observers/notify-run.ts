import { PricelakeError } from '../../io/errors.js';
import { errorCodeOf } from '../../lake/faults.js';
import { type Bound, countLeft } from '../../plan/allowance.js';
import { EXIT, messageOf } from '../exit-codes.js';
import { type Notice, writeNotice } from '../notify/notice.js';
import { findLakeMemory } from '../notify/notice-memory.js';
import { notify } from '../notify/notify.js';
import { type Receiver, readReceivers } from '../notify/receivers.js';
import { formatSeconds } from '../progress.js';
import type { CliIo } from '../terminal-io.js';
import { type LakeFigures, readLakeFigures } from './lake-figures.js';
import type { RunObserver, WatchedRun } from './watch-run.js';

/**
 * Exit codes for which no notice is sent, because the run succeeded, the next run continues its work, or a person
 * stopped it.
 */
const NO_NEWS: readonly number[] = [EXIT.done, EXIT.locked, EXIT.temporary, EXIT.interrupted, EXIT.terminated];

/** Notifies receivers if a run fails or is held, if the lake is out of date, or if little of the budget is left. */
export function openNotifier(flagged: readonly Receiver[], io: CliIo, env: NodeJS.ProcessEnv): RunObserver {
  let receivers = flagged;
  return {
    begin: async ({ file }) => {
      receivers = [...(await readReceivers(file, env, io)).receivers, ...flagged];
    },
    end: async (run) => {
      if (receivers.length === 0 || errorCodeOf(run.error) === 'stopped') return;
      const { pipeline, exitCode } = run;
      // If the lake can't be read, no notices about it are sent. The error of the run explains why it can't be read.
      const lake = pipeline && (await readLakeFigures(pipeline).catch(() => undefined));
      const file = pipeline && (await findLakeMemory(pipeline.lake.path).catch(() => undefined));
      const find = ({ staleAfterMs }: Receiver) => [
        ...describeFailure(run),
        ...describeStale(run, lake, staleAfterMs),
        ...describeBudget(run, lake),
      ];
      const isComplete = exitCode === EXIT.done && lake !== undefined;
      await notify(receivers, { pipeline: pipeline?.name, command: 'sync', find, isComplete }, file, io);
    },
  };
}

function describeFailure({ exitCode, error, endedAt }: WatchedRun): Notice[] {
  if (NO_NEWS.includes(exitCode)) return [];
  const code = errorCodeOf(error);
  const facts = error instanceof PricelakeError ? error.facts : {};
  const failure = { code, exitCode, message: messageOf(error), hint: facts.hint ?? null };
  const at = endedAt.toISOString();
  if (code !== 'gate_failed') {
    return [
      writeNotice({
        key: `failed ${code}`,
        kind: 'failed',
        at,
        text: `A run failed: ${failure.message}`,
        facts: failure,
      }),
    ];
  }
  const checks = (facts.checks ?? []) as { name: string; violations: string }[];
  const runId = String(facts.runId ?? '');
  const names = checks.map(({ name, violations }) => `${name} ${violations}`);
  return [
    writeNotice({
      key: `held ${runId} ${names.join(' ')}`,
      kind: 'held',
      at,
      text: `Run ${runId}: ${failure.message}. Nothing was published.`,
      facts: { ...failure, runId, checks: names },
    }),
  ];
}

function describeStale({ endedAt }: WatchedRun, lake: LakeFigures | undefined, staleAfterMs: number): Notice[] {
  const current = lake?.currentAt;
  if (current === undefined || staleAfterMs === 0) return [];
  const ms = endedAt.getTime() - current;
  if (ms <= staleAfterMs) return [];
  const currentAt = new Date(current).toISOString();
  const text = `The lake was last up to date ${formatSeconds(ms / 1000)} ago, at ${currentAt}`;
  const facts = { currentAt, seconds: Math.round(ms / 1000) };
  return [writeNotice({ key: 'stale', kind: 'stale', at: endedAt.toISOString(), text, facts })];
}

/** Returns a notice for each kind of quota of which less than a tenth is left. */
function describeBudget({ endedAt }: WatchedRun, lake: LakeFigures | undefined): Notice[] {
  const until = lake?.resetsAt?.toISOString() ?? null;
  return Object.entries(lake?.bounds ?? {}).flatMap(([what, bound]: [string, Bound | undefined]) => {
    if (bound === undefined || bound.allowed === 0n || countLeft(bound) * 10n >= bound.allowed) return [];
    const [left, allowed] = [countLeft(bound), bound.allowed];
    const words = what.replace('_', ' ');
    const text = `${left} of ${allowed} ${words} are left${until === null ? '' : ` until ${until}`} (${bound.rule})`;
    const facts = { what, rule: bound.rule, left: String(left), allowed: String(allowed), resetsAt: until };
    const key = `budget ${what} ${until}`;
    return [writeNotice({ key, kind: 'budget', at: endedAt.toISOString(), text, facts })];
  });
}
