import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

/** What one must read to understand a run, and how entangled it is. All figures are better when they are lower. */
export interface House {
  /** Lines of the files that `sync.ts` reaches by its imports, imports of types included. */
  lines: number;
  files: number;
  /** Lines of the files that the list of wings reaches: a run with all that plugs into it. */
  wholeLines: number;
  /** Of these files, those that name an optional capability without being part of it. */
  knowing: string[];
  /** Imports from the folder of a step of a run to that of a later step, as `from -> to`. */
  against: string[];
  /** Members of the type that steps of a run share, and functions that take all of it. */
  members: number;
  takers: number;
  /** Names that one folder of `src` imports from another. */
  symbols: number;
  /** The longest chain of imports from `sync.ts`. */
  chain: number;
}

const STEPS = ['open', 'plan', 'land', 'apply', 'derive', 'prove', 'publish'];

/** Words in the code of a file that mean that it knows the capability. */
const CAPABILITIES = [
  /remote\/|\bremote\b|requireFiles|\.bring\b|readPartial|refusePartial/i,
  /webhook|\bevents?\.ndjson|eventStore|takeEvents|event-files/i,
  /backfill|takeHistories|histories/i,
  /foreign/i,
  /drift/i,
  /kept-counts|keptCounts|within-run/i,
];

/** Paths of files that belong to a capability, which may name it. */
const OWN = /remote\/|webhook|backfill|histor|foreign|drift|kept-counts|within-run|wings\//;

const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(?:type\s+)?([^;'"]*?)\s*from\s*'(\.[^']+)'|import\('(\.[^']+)'\)/g;

interface Import {
  target: string;
  names: string[];
}

/** Measures the TypeScript files below a folder. Its paths, and those of the result, use slashes. */
export function measureHouse(root: string): House {
  const texts = readSources(root);
  const imports = new Map([...texts].map(([file, text]) => [file, findImports(file, text, texts)]));
  const find = (name: string) => [...texts.keys()].find((file) => file.endsWith(name)) as string;
  const start = find('/run/sync.ts');
  const reached = reach(start, imports);
  const countReached = (files: Iterable<string>) =>
    sum([...files].map((file) => countLines(texts.get(file) as string)));
  const shared = /export interface Run \{(.*?)\n\}/s.exec([...texts.values()].join('\n'))?.[1] ?? '';
  const edges = [...reached].flatMap((from) => (imports.get(from) as Import[]).map(({ target }) => [from, target]));
  return {
    lines: countReached(reached),
    wholeLines: countReached(reach(find('/wings/index.ts'), imports)),
    files: reached.size,
    knowing: [...reached].filter((file) => !OWN.test(file) && knowsCapability(texts.get(file) as string)).sort(),
    against: [...new Set(edges.filter(isAgainst).map((edge) => edge.join(' -> ')))].sort(),
    members: shared.match(/^ {2}(?:readonly )?\w+\??:/gm)?.length ?? 0,
    takers: sum(
      [...reached].map((file) => texts.get(file)?.match(/\(\s*\{?[^()]*?\}?\s*(?:run)?: Run\b/g)?.length ?? 0),
    ),
    symbols: countSymbols(imports),
    chain: findLongestChain(start, imports),
  };
}

function readSources(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
  return new Map(files.map((name) => [toSlashes(join(root, name)), readFileSync(join(root, name), 'utf8')]));
}

function findImports(file: string, text: string, texts: ReadonlyMap<string, string>): Import[] {
  return [...text.matchAll(IMPORT)].flatMap(([, names = '', from, dynamic]) => {
    const target = toSlashes(normalize(join(dirname(file), from ?? dynamic ?? ''))).replace(/\.js$/, '.ts');
    const words = names.replace(/\bas\s+\w+|\btype\b/g, '').match(/[A-Za-z_$][\w$]*/g);
    return texts.has(target) ? [{ target, names: words ?? [] }] : [];
  });
}

function reach(start: string, imports: ReadonlyMap<string, Import[]>): Set<string> {
  const reached = new Set([start]);
  // A set that grows while it is read is read to its end.
  for (const file of reached) for (const { target } of imports.get(file) ?? []) reached.add(target);
  return reached;
}

function knowsCapability(text: string): boolean {
  const code = text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '');
  return CAPABILITIES.some((words) => words.test(code));
}

function isAgainst([from, to]: readonly string[]): boolean {
  const [here, there] = [from, to].map((file) => STEPS.indexOf(/run\/(\w+)\//.exec(file ?? '')?.[1] ?? ''));
  return here !== undefined && there !== undefined && here >= 0 && there > here;
}

/** Each folder of the kernel and of the wings is a room; a folder of `src` is a room. */
function findRoom(file: string): string {
  const [, first = '', second = ''] = file.split('/');
  return first === 'kernel' || first === 'wings' ? `${first}/${second}` : first;
}

function countSymbols(imports: ReadonlyMap<string, Import[]>): number {
  const crossing = [...imports].flatMap(([file, list]) =>
    list
      .filter(({ target }) => findRoom(file) !== findRoom(target))
      .flatMap(({ target, names }) => names.map((name) => `${target} ${name}`)),
  );
  return new Set(crossing).size;
}

/** The linter forbids circles, so every chain ends. */
function findLongestChain(start: string, imports: ReadonlyMap<string, Import[]>): number {
  const lengths = new Map<string, number>();
  const measure = (file: string): number => {
    const known = lengths.get(file);
    if (known !== undefined) return known;
    const length = 1 + Math.max(0, ...(imports.get(file) ?? []).map(({ target }) => measure(target)));
    lengths.set(file, length);
    return length;
  };
  return measure(start);
}

const countLines = (text: string): number => text.split('\n').length - 1;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const toSlashes = (path: string): string => path.split(sep).join('/');
