/**
 * A small model of what SPEC.md says about a run: landing, journal, commits in order, the lock. It explores every order of
 * two writers' steps with kills, power losses and a writer that is stopped and goes on, and checks in every state that
 * nothing is paid for twice, that the journal names only bytes on the disk, and that tables agree.
 */

/** Files as a program sees them, or as a power loss may leave them. Changes are numbered from 1. */
interface Disk {
  /** Changes whose bytes have landed. */
  bytes: number;
  /** Changes that the journal names. */
  named: number;
  /** True once the journal of the run has its end. */
  ended: boolean;
  /** How often history has each change. */
  history: readonly number[];
  historyVersion: number;
  /** How often items got each change. */
  items: readonly number[];
  itemsVersion: number;
  /** Up to where items are applied. */
  cursor: number;
}

/** Each is written and synced as one. Items and cursor are one log entry. */
type Part = 'bytes' | 'journal' | 'history' | 'items';
const FIELDS: Record<Part, readonly (keyof Disk)[]> = {
  bytes: ['bytes'],
  journal: ['named', 'ended'],
  history: ['history', 'historyVersion'],
  items: ['items', 'itemsVersion', 'cursor'],
};

/** Where a writer is, and what it knows: the lake as it opened it, and changes that it landed since. */
interface Writer {
  at: 'out' | 'open' | 'land' | 'write' | 'syncBytes' | 'name' | 'syncJournal' | 'history' | 'syncHistory' | CommitStep;
  /** False once its lock was taken over while it was stopped. */
  isStopped: boolean;
  seen: Pick<Disk, 'named' | 'historyVersion' | 'itemsVersion' | 'cursor'>;
}
type CommitStep = 'cursor' | 'items' | 'syncItems' | 'end' | 'syncEnd';

export interface State {
  /** What programs see. */
  now: Disk;
  /** What survives a power loss for certain. */
  safe: Disk;
  writers: readonly [Writer, Writer];
  holder: 0 | 1 | undefined;
  /** Changes that a run was told to be landed for good. */
  acknowledged: number;
  /** Faults that may still happen. */
  kills: number;
  losses: number;
  stops: number;
}

/** Ways to weaken the protocol. */
export interface Weakness {
  /** The journal names bytes before they are synced. */
  namesUnsynced?: boolean;
  /** The cursor is a commit of its own, before that of the rows. */
  cursorFirst?: boolean;
  /** A stopped writer whose lock was taken over commits all the same: its log entry may replace another. */
  locksByTime?: boolean;
  /** Items are committed before history. */
  itemsFirst?: boolean;
}

const CHANGES = 2;
const NONE = Array.from({ length: CHANGES }, () => 0);
const EMPTY: Disk = {
  ...{ bytes: 0, named: 0, ended: false },
  ...{ history: NONE, historyVersion: 0, items: NONE, itemsVersion: 0, cursor: 0 },
};
const OUT: Writer = { at: 'out', isStopped: false, seen: { named: 0, historyVersion: 0, itemsVersion: 0, cursor: 0 } };

export const START: State = {
  ...{ now: EMPTY, safe: EMPTY, writers: [OUT, OUT], holder: undefined },
  ...{ acknowledged: 0, kills: 1, losses: 1, stops: 1 },
};

/** What is wrong, or undefined. */
export function findFault({ now, safe, acknowledged }: State): string | undefined {
  if (safe.named > safe.bytes) return 'the journal names bytes that a power loss may take';
  if (safe.named < acknowledged) return 'a power loss may take what was acknowledged';
  for (const disk of [now, safe]) {
    if (disk.history.some((count) => count > 1)) return 'history has a change twice';
    if (disk.items.some((count, index) => count !== (index < disk.cursor ? 1 : 0)))
      return 'items are not what was applied up to the cursor';
    if (disk.items.some((count, index) => count > (disk.history[index] ?? 0))) return 'items are ahead of history';
  }
  return undefined;
}

/** The states that may follow, each with the step that leads there. Throws if a step pays twice. */
export function* listNext(state: State, weak: Weakness): Generator<Step> {
  for (const who of [0, 1] as const) {
    yield* step(state, who, weak);
    if (state.writers[who].at === 'out') continue;
    if (state.kills > 0) yield [`kill ${who}`, { ...replace(state, who, OUT), kills: state.kills - 1 }];
    const isHolder = state.holder === who && !state.writers[who].isStopped;
    // Another takes the lock over: the owner gave no sign of life, and may go on later.
    if (isHolder && state.stops > 0) {
      const stopped = replace(state, who, { ...state.writers[who], isStopped: true });
      yield [`stop ${who}`, { ...stopped, holder: undefined, stops: state.stops - 1 }];
    }
  }
  if (state.losses > 0) yield* lose(state);
}

/** A power loss: of each part that is not synced, the old state is left or the new one. */
function* lose(state: State): Generator<Step> {
  const parts = (Object.keys(FIELDS) as Part[]).filter((part) =>
    FIELDS[part].some((field) => JSON.stringify(state.now[field]) !== JSON.stringify(state.safe[field])),
  );
  for (let mask = 0; mask < 2 ** parts.length; mask++) {
    const kept = parts.filter((_, index) => (mask >> index) % 2 === 1);
    const left = kept.reduce((disk, part) => keep(disk, state.now, part), state.safe);
    yield [
      `loss but ${kept.join(' ')}`,
      { ...state, now: left, safe: left, writers: [OUT, OUT], holder: undefined, losses: state.losses - 1 },
    ];
  }
}

function keep(to: Disk, from: Disk, part: Part): Disk {
  return { ...to, ...Object.fromEntries(FIELDS[part].map((field) => [field, from[field]])) };
}

function replace(state: State, who: 0 | 1, writer: Writer): State {
  const writers: [Writer, Writer] = who === 0 ? [writer, state.writers[1]] : [state.writers[0], writer];
  const isFree = writer.at === 'out' && state.holder === who;
  return { ...state, writers, holder: isFree ? undefined : state.holder };
}

type Step = [string, State];

function step(state: State, who: 0 | 1, weak: Weakness): Step[] {
  const writer = state.writers[who];
  const { now, safe, acknowledged, holder } = state;
  const { seen, isStopped } = writer;
  const go = (at: Writer['at'], to: Partial<State> = {}): Step[] => [
    [`${who} ${writer.at}`, replace({ ...state, ...to }, who, at === 'out' ? OUT : { ...writer, at })],
  ];
  const write = (fields: Partial<Disk>) => ({ now: { ...now, ...fields } });
  const sync = (part: Part) => ({ safe: keep(safe, now, part) });
  /** After a writer was stopped and its lock taken over, its bytes and journal are files that nobody reads. */
  const own = (to: Partial<State>) => (isStopped ? {} : to);
  const isLate = (field: 'historyVersion' | 'itemsVersion') => now[field] !== seen[field] && weak.locksByTime !== true;
  const [first, last] = weak.itemsFirst === true ? (['items', 'history'] as const) : (['history', 'items'] as const);
  switch (writer.at) {
    case 'out':
      if (holder !== undefined) return [];
      return [[`${who} lock`, { ...replace(state, who, { ...OUT, at: 'open' }), holder: who }]];
    case 'open': {
      // A run that has ended is followed by another one, with a journal of its own.
      const { named, historyVersion, itemsVersion, cursor } = now;
      const opened: Writer = { ...writer, at: 'land', seen: { named, historyVersion, itemsVersion, cursor } };
      return [[`${who} open`, replace({ ...state, ...own(write({ ended: false })) }, who, opened)]];
    }
    case 'land': {
      const commits = seen.named > seen.cursor ? go(first) : seen.named === CHANGES ? go('end') : [];
      if (seen.named === CHANGES) return commits;
      if (seen.named < acknowledged && !isStopped) throw new Error('a change is paid for twice');
      return [...commits, ...go('write')];
    }
    case 'write':
      return go(weak.namesUnsynced === true ? 'name' : 'syncBytes', own(write({ bytes: seen.named + 1 })));
    case 'syncBytes':
      return go('name', own(sync('bytes')));
    case 'name':
      // An append looks first whether the journal is still its file.
      return isStopped ? go('out') : go('syncJournal', write({ named: seen.named + 1 }));
    case 'syncJournal': {
      if (isStopped) return go('out');
      const landed: Writer = { ...writer, at: 'land', seen: { ...seen, named: seen.named + 1 } };
      return [[`${who} landed`, replace({ ...state, ...sync('journal'), acknowledged: seen.named + 1 }, who, landed)]];
    }
    case 'history': {
      if (isLate('historyVersion')) return go('out');
      const isNew = (index: number) => index < seen.named && now.history[index] === 0;
      const history = now.history.map((count, index) => (isNew(index) ? count + 1 : count));
      return go('syncHistory', write({ history, historyVersion: now.historyVersion + 1 }));
    }
    case 'syncHistory':
      return go(last === 'history' ? 'end' : weak.cursorFirst === true ? 'cursor' : 'items', sync('history'));
    case 'cursor':
      return go('items', write({ cursor: seen.named }));
    case 'items': {
      if (isLate('itemsVersion')) return go('out');
      const isNew = (index: number) => index >= seen.cursor && index < seen.named;
      const items = now.items.map((count, index) => (isNew(index) ? count + 1 : count));
      return go('syncItems', write({ items, itemsVersion: now.itemsVersion + 1, cursor: seen.named }));
    }
    case 'syncItems':
      return go(last === 'history' ? 'history' : 'end', sync('items'));
    case 'end':
      return isStopped ? go('out') : go('syncEnd', write({ ended: true }));
    case 'syncEnd':
      return go('out', own(sync('journal')));
  }
}

/** Explores all states. Returns their number, and the shortest way to a fault if there is one. */
export function explore(weak: Weakness): { states: number; fault?: string; way?: string[] } {
  const from = new Map<string, [string, string] | undefined>([[JSON.stringify(START), undefined]]);
  const waiting: State[] = [START];
  for (const state of waiting) {
    const key = JSON.stringify(state);
    try {
      const fault = findFault(state);
      if (fault !== undefined) return { states: from.size, fault, way: tellWay(from, key) };
      for (const [name, next] of listNext(state, weak)) {
        const text = JSON.stringify(next);
        if (from.has(text)) continue;
        from.set(text, [key, name]);
        waiting.push(next);
      }
    } catch (error) {
      return { states: from.size, fault: (error as Error).message, way: tellWay(from, key) };
    }
  }
  return { states: from.size };
}

function tellWay(from: ReadonlyMap<string, [string, string] | undefined>, end: string): string[] {
  const way: string[] = [];
  for (let at = from.get(end); at !== undefined; at = from.get(at[0])) way.unshift(at[1]);
  return way;
}
