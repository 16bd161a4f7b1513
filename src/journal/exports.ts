import type { Dataset, EntryOf, Part, RunEntry } from './run-entry.js';

export interface ExportAttempt {
  attempt: number;
  readAt: string;
  segments: readonly Pick<EntryOf<'export.segment'>, 'file' | 'rows' | 'bytes'>[];
  /** `done` if the export is complete, `cut` if it lacks rows but is kept, undefined if it was interrupted. */
  end: 'done' | 'cut' | undefined;
  announced: bigint;
  landed: bigint;
}

/** An export of the items that have changed since some time. It is complete if `landed` equals `announced`. */
export interface HydrationExport {
  dataset: Dataset;
  announced: bigint;
  landed: bigint;
}

export interface Exports {
  /** The exports planned for a full copy; undefined until they are planned. */
  planned: EntryOf<'shards'>['shards'] | undefined;
  /** The attempts of each export, keyed by the name of its shard. */
  attempts: ReadonlyMap<string, readonly ExportAttempt[]>;
  ofChanged: readonly HydrationExport[];
  begun: number;
  taken: bigint;
  onDisk: bigint;
  overage: boolean;
  /** The maximum number of overage blocks that the service may bill for the exports. */
  blocks: bigint;
}

export const EXPORTS: Part<Exports> = {
  start: {
    ...{ planned: undefined, attempts: new Map(), ofChanged: [], begun: 0 },
    ...{ taken: 0n, onDisk: 0n, overage: false, blocks: 0n },
  },
  step: foldExports,
};

function foldExports(exports: Exports, entry: RunEntry): Exports {
  switch (entry.type) {
    case 'shards':
      return { ...exports, planned: entry.shards };
    case 'export.begin':
      return { ...addTaken(exports, entry), ...changeAttempt(exports, entry, { readAt: entry.readAt }) };
    case 'export.segment': {
      const { file, rows, bytes } = entry;
      const segments = [...(findAttempt(exports, entry)?.segments ?? []), { file, rows, bytes }];
      return { ...exports, onDisk: exports.onDisk + BigInt(rows), ...changeAttempt(exports, entry, { segments }) };
    }
    case 'export.done':
    case 'export.cut': {
      const { announced, landed } = entry;
      const end = entry.type === 'export.done' ? 'done' : 'cut';
      return { ...exports, ...changeAttempt(exports, entry, { end, announced, landed }) };
    }
    case 'hydrate.export': {
      const { dataset, announced } = entry;
      return { ...addTaken(exports, entry), ofChanged: [...exports.ofChanged, { dataset, announced, landed: 0n }] };
    }
    case 'hydrate.page':
      return isHydrationExport(entry.file) ? { ...exports, ofChanged: addLanded(exports.ofChanged, entry) } : exports;
    default:
      return exports;
  }
}

function addTaken(exports: Exports, taken: EntryOf<'export.begin' | 'hydrate.export'>): Exports {
  return {
    ...exports,
    begun: exports.begun + 1,
    taken: exports.taken + taken.announced,
    overage: exports.overage || taken.overage,
    blocks: exports.blocks + taken.blocks,
  };
}

type Place = Pick<ExportAttempt, 'attempt'> & { shard: string };

function findAttempt({ attempts }: Exports, { shard, attempt }: Place): ExportAttempt | undefined {
  return attempts.get(shard)?.find((one) => one.attempt === attempt);
}

function changeAttempt(exports: Exports, place: Place, change: Partial<ExportAttempt>): Pick<Exports, 'attempts'> {
  const { shard, attempt } = place;
  const none = { attempt, readAt: '', segments: [], end: undefined, announced: 0n, landed: 0n };
  const changed = { ...(findAttempt(exports, place) ?? none), ...change };
  const others = (exports.attempts.get(shard) ?? []).filter((one) => one.attempt !== attempt);
  return { attempts: new Map(exports.attempts).set(shard, [...others, changed]) };
}

/** Returns the complete export of a shard, or undefined if there is none. */
export function findDone({ attempts }: Exports, shard: string): ExportAttempt | undefined {
  return attempts.get(shard)?.find(({ end }) => end === 'done');
}

/** Lists the exports that lack rows, for example because of the monthly limit. They are billed, so they are kept. */
export function listCut({ attempts }: Exports, shard?: string): ExportAttempt[] {
  const some = shard === undefined ? [...attempts.values()] : [attempts.get(shard) ?? []];
  return some.flat().filter(({ end }) => end === 'cut');
}

export function listEnded({ attempts }: Exports): ExportAttempt[] {
  return [...attempts.values()].flat().filter(({ end }) => end !== undefined);
}

/** Counts the announced and the downloaded rows of kept exports, and the billed rows of interrupted exports. */
export function countKept(exports: Exports): { kept: bigint; landed: bigint; lost: bigint } {
  const whole = exports.ofChanged.filter(({ announced, landed }) => announced === landed);
  const counted = [...listEnded(exports), ...whole];
  const kept = counted.reduce((sum, { announced }) => sum + announced, 0n);
  return { kept, landed: counted.reduce((sum, { landed }) => sum + landed, 0n), lost: exports.taken - kept };
}

const HYDRATION_EXPORT = 'hydrate-export-';

/** Returns the prefix of the file names of an export of changed items. A run numbers these exports from 1. */
export const nameHydrationExport = (number: number): string => `${HYDRATION_EXPORT}${number}-`;

export const isHydrationExport = (file: string): boolean => file.startsWith(HYDRATION_EXPORT);

function addLanded(exports: readonly HydrationExport[], { file, rows }: EntryOf<'hydrate.page'>): HydrationExport[] {
  return exports.map((one, index) => {
    return file.startsWith(nameHydrationExport(index + 1)) ? { ...one, landed: one.landed + BigInt(rows) } : one;
  });
}
