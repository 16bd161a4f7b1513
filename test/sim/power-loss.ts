/** Runs that lose the power at any of their file calls, and the runs after them, on what the disk kept. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import type { Io } from '../../src/io/io.js';
import type { Seeded } from '../seeded.js';
import { Mismatch, refuseItemsAhead } from './compare.js';
import { LossyDisk, type Moment } from './lossy-disk.js';
import { Schedule } from './schedule.js';
import type { Script } from './script.js';

/** No process has this id. */
const DEAD = 999_999_999;
/** Losses in a row before a run may end. */
const LOSSES = 3;

export interface Losses {
  script: Script;
  schedule: Schedule;
  /** Counts the runs. */
  runs: number;
  /** File calls of a run, as far as is known: losses come at any of them. */
  calls: number;
  /** The number of calls of each kind in the latest run that had them. */
  kinds: Map<string, number>;
  /** The call before which the power was lost, for people. */
  struck: string[];
  end(): void;
}

export function expectLosses(script: Script): Losses {
  const schedule = Schedule.begin(script.draw('schedule'));
  const end = () => {
    script.trace = schedule.trace;
    schedule.end();
  };
  return { script, schedule, runs: 0, calls: 500, kinds: new Map(), struck: [], end };
}

type Log = Io['log'];

/**
 * Runs `work` until it ends, each time on what the power loss before has left of the lake's disk. What a run has said to
 * be landed or committed must be there, and no run may find that bytes differ from what a journal names.
 */
export async function workThroughLosses<T>(
  lakePath: string,
  losses: Losses,
  log: Log,
  work: (log: Log) => Promise<T>,
): Promise<T> {
  const root = path.dirname(lakePath);
  const { script, schedule } = losses;
  const run = ++losses.runs;
  for (let loss = 1; ; loss++) {
    const name = `loss ${loss} of run ${run}`;
    const random = script.draw(name);
    const moment = drawMoment(random, losses);
    const lossAt = loss <= LOSSES && script.takes(name) ? moment : NEVER;
    schedule.reseed(script.draw(`order ${name}`));
    const disk = await LossyDisk.watch(root, random, lossAt, schedule);
    const said: Promised[] = [];
    const listen: Log = (level, event, facts) => {
      if (DAMAGE.includes(event))
        throw new Mismatch(`a power loss led to ${event}`, [inspect(facts), ...losses.struck]);
      if (disk.rest === undefined) said.push(...readPromise(event, facts ?? {}));
      log(level, event, facts);
    };
    try {
      const result = await work(listen);
      if (disk.rest === undefined) {
        losses.calls = Math.max(40, disk.calls);
        return result;
      }
    } catch (error) {
      if (disk.rest === undefined || error instanceof Mismatch) throw tellLosses(error, losses);
    } finally {
      for (const [kind, count] of disk.kinds) losses.kinds.set(kind, count);
      disk.stop();
    }
    losses.struck.push(disk.struck);
    script.faults.push(`power lost before ${disk.struck.split(' ', 1)}`);
    const rest = path.join(disk.rest, path.basename(lakePath));
    const broken = said.filter((one) => isKept(one, lakePath) && !isKept(one, rest));
    if (broken.length > 0)
      throw new Mismatch('a power loss undid what a run had said', [
        ...broken.map(({ what }) => what),
        ...losses.struck,
      ]);
    refuseItemsAhead(rest, losses.struck);
    rmSync(root, { recursive: true });
    renameSync(disk.rest, root);
    endOwners(path.join(lakePath, '_pricelake'));
  }
}

const NEVER: Moment = { nth: Number.POSITIVE_INFINITY };

/**
 * Half of the moments are drawn by a place in the lake and a kind of call there, so that a call that comes once in a run
 * is about as likely as one of hundreds.
 */
function drawMoment(random: Seeded, { calls, kinds }: Losses): Moment {
  const isOfKind = random.fraction() < 0.5;
  const nth = 1 + random.integer(calls);
  if (!isOfKind || kinds.size === 0) return { nth };
  const placeOf = (kind: string) => /_pricelake\/\w+|_delta_log|$/.exec(kind)?.[0];
  const place = random.pick([...new Set([...kinds.keys()].map(placeOf))]);
  const [kind, count] = random.pick([...kinds].filter(([one]) => placeOf(one) === place));
  return { kind, nth: 1 + (nth % count) };
}

/** Events of a run that finds bytes other than its journal names. */
const DAMAGE = ['landing.altered', 'landing.damaged', 'memory.damaged'];

/** What a run said to have done: a text in one of the files of a folder. */
interface Promised {
  what: string;
  folder: string;
  text: RegExp;
}

const LANDED: Record<string, string> = {
  export: 'export\\.(done|cut)',
  feed: 'feed\\.done',
  datasets: 'datasets',
  watermark: 'watermark',
};

function readPromise(event: string, { what, shard, table, version }: Record<string, unknown>): Promised[] {
  if (event === 'committed') {
    const name = `${String(version).padStart(20, '0')}.json`;
    return [{ what: `${table} ${name}`, folder: `${table}/_delta_log/${name}`, text: /commitInfo/ }];
  }
  const type = event === 'landed' ? LANDED[String(what)] : undefined;
  if (type === undefined) return [];
  const more = shard === undefined ? '' : `[^\\n]*"shard":"${String(shard)}"`;
  return [{ what: `landed ${what}`, folder: '_pricelake/landing', text: new RegExp(`"type":"${type}"${more}`) }];
}

function isKept({ folder, text }: Promised, lake: string): boolean {
  const file = path.join(lake, folder);
  if (!existsSync(file)) return false;
  if (folder.endsWith('.json')) return text.test(readFileSync(file, 'utf8'));
  const journals = readdirSync(file).map((run) => path.join(file, run, 'journal.ndjson'));
  return journals.some((journal) => existsSync(journal) && text.test(readFileSync(journal, 'utf8')));
}

function tellLosses(error: unknown, { struck }: Losses): unknown {
  if (error instanceof Error && !(error instanceof Mismatch) && struck.length > 0)
    error.message += `\n  the power was lost before: ${struck.join(', ')}`;
  return error;
}

/** The process that held the lock is gone. */
function endOwners(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((one) => one.startsWith('lock'))) {
    const file = path.join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"pid":\d+/, `"pid":${DEAD}`));
  }
}
