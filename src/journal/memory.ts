import { rename } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { makeFolder, syncFolder } from '../io/durable.js';
import type { Io } from '../io/io.js';
import { type Lake, privatePath, temporaryPath } from '../tables/layout.js';
import type { RunsRow } from '../tables/rows.js';
import { loadTableSchema } from '../tables/schemas.js';
import { RUN_MODES, type RunMode } from '../tables/table.js';
import { type Chain, listChain } from './chain.js';
import { type Fold, Journal, readJournal } from './journal.js';
import { int64Text } from './run-entry.js';
import { MOST_TRIES, type RunTry, tryEntry } from './tries.js';

/** The file in `_pricelake` that holds the lake's state between runs. */
export const MEMORY_FILE = 'memory.ndjson';

/** The row of the runs table for a run that found nothing new. */
export type IdleRun = RunsRow & { mode: RunMode };

const TYPES: Record<string, z.ZodType> = {
  BIGINT: int64Text,
  DOUBLE: z.number(),
  BOOLEAN: z.boolean(),
  VARCHAR: z.string(),
  'TIMESTAMP WITH TIME ZONE': z.iso.datetime(),
};

/** Accepts rows written by other versions of pricelake, which may lack columns or have unknown ones. */
const idleRun = z.lazy(() => {
  const columns = loadTableSchema('runs').columns.map(({ name, type }) => {
    return [name, (TYPES[type] ?? z.unknown()).nullish()] as const;
  });
  const named = { run_number: int64Text, run_id: z.string(), mode: z.enum(RUN_MODES) };
  return z.looseObject({ ...Object.fromEntries(columns), ...named });
}) as unknown as z.ZodType<IdleRun>;

/** An export whose attempts were all interrupted, in one run or in several consecutive runs. */
export interface BrokenExport {
  name: string;
  /** The number of consecutive runs in which all attempts failed. */
  runs: number;
  /** The number of rows that the attempts announced. The service may have billed these rows. */
  rows: bigint;
  at: Date;
  reason: string;
  /** The export's format if pricelake can't parse it, and so won't request it again; otherwise undefined. */
  format?: string | undefined;
}

const memoryEntry = z.discriminatedUnion('type', [
  /** The row of a run that found nothing new and committed nothing. The next run that publishes adds this row. */
  z.strictObject({ type: z.literal('idle'), row: idleRun }),
  /** The runs table contains the rows of all runs up to this number. */
  z.strictObject({ type: z.literal('published'), runNumber: int64Text }),
  /**
   * The items whose changes a published run received from a source. There may be a million ids, so they are one text.
   */
  z.strictObject({ type: z.literal('brought'), source: z.string(), ids: z.string().regex(/^-?\d+(?:,-?\d+)*$/) }),
  /** The account's plan as exact JSON text, and the address of the service that sent it. */
  z.strictObject({ type: z.literal('plan'), seenAt: z.iso.datetime(), text: z.string(), from: z.url().optional() }),
  z.strictObject({
    type: z.literal('broken'),
    name: z.string(),
    runs: z.int().min(1),
    rows: int64Text,
    at: z.iso.datetime(),
    reason: z.string(),
    format: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('whole'), name: z.string() }),
  /** The last time at which a run asked the service when it had last seen the items of each website. */
  z.strictObject({ type: z.literal('probed'), at: z.iso.datetime() }),
  /** The last time at which a sample showed that the field `changes` in the feed omits values. */
  z.strictObject({ type: z.literal('partial'), at: z.iso.datetime() }),
  /** The length of the longest feed page, and the last time at which changes followed a page with `hasMore: false`. */
  z.strictObject({ type: z.literal('pages'), longest: z.int().min(0), deniedMoreAt: z.iso.datetime().optional() }),
  /** The results of the checks among all items, which the next run updates (src/check/kept-counts.ts). */
  z.strictObject({ type: z.literal('counts'), text: z.string() }),
  tryEntry,
]);
type MemoryEntry = z.infer<typeof memoryEntry>;

/** A lake's state between runs. Only idle runs and step durations can't be restored if the file is lost. */
export interface LakeMemory {
  idleRuns: Chain<IdleRun> | undefined;
  brought: ReadonlyMap<string, Chain<string>>;
  plan: { seenAt: Date; text: string; from?: string | undefined } | undefined;
  /** The exports that failed in earlier runs, by name. The newest is last. */
  broken: ReadonlyMap<string, BrokenExport>;
  counts: string | undefined;
  probedAt: Date | undefined;
  partialAt: Date | undefined;
  longestPage: number;
  deniedMoreAt: Date | undefined;
  tries: readonly RunTry[];
  /** The number of outdated lines, which later lines have replaced. `lines` is the number of all lines. */
  superseded: number;
  lines: number;
  damaged: readonly number[];
}

const NOTHING: LakeMemory = {
  ...{ idleRuns: undefined, brought: new Map(), plan: undefined, broken: new Map(), counts: undefined },
  probedAt: undefined,
  partialAt: undefined,
  ...{ longestPage: 0, deniedMoreAt: undefined },
  tries: [],
  ...{ superseded: 0, lines: 0, damaged: [] },
};

const HINT = /^\{"type":"(?:counts|pages|partial|plan|probed|try)"/;

/** Each line has its own checksum, so that people can remove other lines. */
const MEMORY_FOLD: Fold<MemoryEntry, LakeMemory> = {
  entry: memoryEntry,
  start: NOTHING,
  step: (memory, entry) => foldMemory({ ...memory, lines: memory.lines + 1 }, entry),
  skip: ({ lines, superseded, damaged, ...rest }, line) => {
    if (!HINT.test(line)) return undefined;
    return { ...rest, lines: lines + 1, superseded: superseded + 1, damaged: [...damaged, lines + 1] };
  },
  seal: 'line',
  advice:
    'Move the file away. The runs table then lacks the runs without changes since the last publication, and `status` lacks the step durations. With `source.history: items`, pricelake reads the history of each item again, one call each. Nothing else is lost.',
};

/** The maximum number of failed exports to store. If there are more, the oldest are dropped. */
const MOST_BROKEN = 500;

function foldMemory(memory: LakeMemory, entry: MemoryEntry): LakeMemory {
  const supersede = (lines: number) => ({ superseded: memory.superseded + lines });
  switch (entry.type) {
    case 'idle':
      return { ...memory, idleRuns: { value: entry.row, before: memory.idleRuns } };
    case 'published': {
      const rows = listChain(memory.idleRuns);
      const waiting = rows.filter(({ run_number }) => run_number > entry.runNumber);
      return { ...memory, idleRuns: chain(waiting), ...supersede(rows.length - waiting.length + 1) };
    }
    case 'brought': {
      const { source, ids } = entry;
      const all = { value: ids, before: memory.brought.get(source) };
      return { ...memory, brought: new Map(memory.brought).set(source, all) };
    }
    case 'plan': {
      const plan = { seenAt: new Date(entry.seenAt), text: entry.text, from: entry.from };
      return { ...memory, plan, ...supersede(memory.plan === undefined ? 0 : 1) };
    }
    case 'broken': {
      const { type, at, ...facts } = entry;
      const { name } = facts;
      const others = [...memory.broken.values()].filter((one) => one.name !== name).slice(1 - MOST_BROKEN);
      const broken = [...others, { ...facts, at: new Date(at) }].map((one) => [one.name, one] as const);
      return { ...memory, broken: new Map(broken), ...supersede(memory.broken.size + 1 - broken.length) };
    }
    case 'whole': {
      const broken = new Map(memory.broken);
      return { ...memory, ...supersede(broken.delete(entry.name) ? 2 : 1), broken };
    }
    case 'probed':
      return { ...memory, probedAt: new Date(entry.at), ...supersede(memory.probedAt === undefined ? 0 : 1) };
    case 'partial':
      return { ...memory, partialAt: new Date(entry.at), ...supersede(memory.partialAt === undefined ? 0 : 1) };
    case 'pages': {
      const deniedMoreAt = entry.deniedMoreAt === undefined ? undefined : new Date(entry.deniedMoreAt);
      const before = memory.longestPage === 0 && memory.deniedMoreAt === undefined ? 0 : 1;
      return { ...memory, longestPage: entry.longest, deniedMoreAt, ...supersede(before) };
    }
    case 'counts':
      return { ...memory, counts: entry.text, ...supersede(memory.counts === undefined ? 0 : 1) };
    case 'try': {
      const { type, ...made } = entry;
      const tries = [...memory.tries, made].slice(-MOST_TRIES);
      return { ...memory, tries, ...supersede(memory.tries.length + 1 - tries.length) };
    }
  }
}

function chain<Value>(values: readonly Value[]): Chain<Value> | undefined {
  return values.reduce<Chain<Value> | undefined>((before, value) => ({ value, before }), undefined);
}

/** The saved state of a lake, opened for writing. */
export type Memory = Journal<MemoryEntry, LakeMemory>;

/** Reads the saved state. @throws PricelakeError `lake_invalid` with the number of a damaged line */
export function readMemory(lake: Lake): Promise<LakeMemory> {
  return readJournal(privatePath(lake, MEMORY_FILE), MEMORY_FOLD);
}

/** The file is rewritten only if more lines than this are outdated. */
const FEW_LINES = 200;

/** Opens the saved state of a locked lake. Rewrites the file if most lines are outdated or a line is damaged. */
export async function openMemory(lake: Lake, io: Pick<Io, 'log'>): Promise<Memory> {
  const file = privatePath(lake, MEMORY_FILE);
  const memory = await Journal.open(file, MEMORY_FOLD, io);
  const { damaged, superseded, lines } = memory.state;
  if (damaged.length > 0) io.log('warn', 'memory.damaged', { file, lines: damaged.join(', ') });
  if (damaged.length === 0 && superseded <= Math.max(FEW_LINES, lines / 2)) return memory;
  await memory.close().then(() => compact(lake, file, memory.state));
  return Journal.open(file, MEMORY_FOLD, io);
}

async function compact(lake: Lake, file: string, memory: LakeMemory): Promise<void> {
  const temporary = temporaryPath(lake, file);
  await makeFolder(path.dirname(temporary));
  const written = await Journal.open(temporary, MEMORY_FOLD);
  await written.append(...listEntries(memory));
  await written.close();
  await rename(temporary, file);
  await syncFolder(path.dirname(file));
}

function listEntries({
  idleRuns,
  brought,
  plan,
  broken,
  counts,
  probedAt,
  partialAt,
  longestPage,
  deniedMoreAt,
  tries,
}: LakeMemory): MemoryEntry[] {
  return [
    ...listChain(idleRuns).map((row): MemoryEntry => ({ type: 'idle', row })),
    ...[...brought].map(([source, ids]): MemoryEntry => ({ type: 'brought', source, ids: listChain(ids).join(',') })),
    ...(plan === undefined ? [] : [{ ...plan, type: 'plan', seenAt: plan.seenAt.toISOString() } as const]),
    ...[...broken.values()].map(({ at, ...one }): MemoryEntry => ({ type: 'broken', ...one, at: at.toISOString() })),
    ...(counts === undefined ? [] : [{ type: 'counts', text: counts } as const]),
    ...(probedAt === undefined ? [] : [{ type: 'probed', at: probedAt.toISOString() } as const]),
    ...(partialAt === undefined ? [] : [{ type: 'partial', at: partialAt.toISOString() } as const]),
    ...(longestPage === 0 ? [] : [writePages(longestPage, deniedMoreAt)]),
    ...tries.map((one): MemoryEntry => ({ type: 'try', ...one })),
  ];
}

export function writePages(longest: number, deniedAt: Date | undefined): MemoryEntry {
  return { type: 'pages', longest, ...(deniedAt === undefined ? {} : { deniedMoreAt: deniedAt.toISOString() }) };
}

/** Lists the rows to add to the runs table, in order. @param published the number of the newest run in the table */
export function listIdleRuns({ idleRuns }: LakeMemory, published = -1n): IdleRun[] {
  return listChain(idleRuns).filter(({ run_number }) => run_number > published);
}

export function* listBrought({ brought }: LakeMemory, source: string): Generator<bigint> {
  for (const ids of listChain(brought.get(source))) for (const id of ids.split(',')) yield BigInt(id);
}

/** Lists the exports that failed in earlier runs, newest first. */
export function listBrokenExports({ broken }: LakeMemory): BrokenExport[] {
  return [...broken.values()].sort((a, b) => b.at.getTime() - a.at.getTime());
}
