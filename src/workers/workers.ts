import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import { PRICELAKE_VERSION } from '../io/package-path.js';
import { type ExchangeAddress, exchangeAddress, type TaskFile, taskFile } from './exchange.js';
import { TaskPaths } from './task-paths.js';

/** The word behind the command that starts a worker: `pricelake __work`. */
export const WORK_WORD = '__work';

/** Tasks that workers get at once. More of them wait for the first. */
export const MOST_TASKS = 512;

/**
 * A kind of work that another process can do. Both sides turn its values into JSON and back by these schemas. They say by
 * `paths` which texts are paths, so files that a value names go along with it.
 */
export interface TaskKind<I, O> {
  readonly name: string;
  readonly input: (paths: TaskPaths) => z.ZodType<I>;
  readonly output: (paths: TaskPaths) => z.ZodType<O>;
}

/** Processes that do pieces of a run's work, on other machines. */
export interface Workers {
  /** True if work on so many rows is worth the way there. */
  pays(rows: bigint): boolean;
  /**
   * Does a task and gives its result. A task may run more than once, so each attempt writes files of its own, and only
   * those count that the result names.
   * @param refuse says in a few words why a result can't be that of the task, or undefined if it can
   * @throws PricelakeError the task's own error, or `unavailable` when the workers fail
   */
  do<I, O>(kind: TaskKind<I, O>, task: I, refuse: (result: O) => Promise<string | undefined>): Promise<O>;
  /** Ends them, whatever they do. From then on no work pays. */
  close(): Promise<void>;
}

/** A bigint as JSON. */
export const int64 = z.codec(z.string().regex(/^-?\d{1,19}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => String(value),
});

/** A Map as JSON: a list of pairs. */
export const mapOf = <K extends z.ZodType, V extends z.ZodType>(key: K, value: V) =>
  z.codec(z.array(z.tuple([key, value])), isA<Map<z.output<K>, z.output<V>>>(Map), {
    decode: (pairs) => new Map(pairs as [z.output<K>, z.output<V>][]),
    encode: (map) => [...map] as never,
  });

/** A Set as JSON: a list. */
export const setOf = <V extends z.ZodType>(value: V) =>
  z.codec(z.array(value), isA<Set<z.output<V>>>(Set), {
    decode: (list) => new Set(list),
    encode: (set) => [...set] as never,
  });

/** Its members were read by the list. */
const isA = <T>(type: new () => unknown) => z.custom<T>((value) => value instanceof type);

/** The line that a worker reads. All that it needs beside is in the package and in these files. */
const request = z.strictObject({
  version: z.string(),
  kind: z.string(),
  /** DuckDB's limit, as the session takes it. */
  memory: z.union([z.number(), z.string()]),
  exchange: exchangeAddress,
  files: z.array(taskFile),
  task: z.unknown(),
});
export type TaskRequest = z.infer<typeof request>;

/** Errors that another try would bring again. Anything else ends the worker, and the cluster tries again elsewhere. */
const LASTING = [
  'config',
  'unauthorized',
  'contract',
  'lake_invalid',
  'lake_read_only',
  'disk_full',
  'out_of_memory',
] as const;

const usage = z.strictObject({
  seconds: z.number(),
  cpuSeconds: z.number(),
  maxBytes: z.number(),
  sentBytes: z.number(),
  gotBytes: z.number(),
});
/** The time, memory and traffic that a worker process took until its answer. */
export type Usage = z.infer<typeof usage>;

const answer = z.union([
  z.strictObject({ result: z.unknown(), files: z.array(taskFile), usage }),
  z.strictObject({
    error: z.strictObject({
      code: z.enum(LASTING),
      message: z.string().max(10_000),
      hint: z.string().max(2_000).optional(),
    }),
  }),
]);

/** Things that a worker gets with a task. */
interface TaskWorld {
  memory: number | string;
  exchange: ExchangeAddress;
  files: TaskFile[];
}

/** A task as JSON. `paths` then has the files that it reads, and the folders in which it writes. */
export const encodeTask = <I, O>({ input }: TaskKind<I, O>, task: I, paths: TaskPaths): unknown =>
  z.encode(input(paths), task);

/** @param task as `encodeTask` gives it */
export function writeRequest({ name }: Pick<TaskKind<never, never>, 'name'>, task: unknown, world: TaskWorld): string {
  const whole: TaskRequest = { version: PRICELAKE_VERSION, kind: name, ...world, task };
  return JSON.stringify(whole);
}

/** @throws PricelakeError `config` for a task of another version: other code would give other rows */
export function readRequest(line: string): TaskRequest {
  const parsed = request.parse(JSON.parse(line));
  if (parsed.version === PRICELAKE_VERSION) return parsed;
  throw new PricelakeError(
    'config',
    `a worker has pricelake ${PRICELAKE_VERSION}, but the run is of ${parsed.version}`,
    { hint: 'Install the same version on every machine of the cluster.' },
  );
}

/** @param result as its kind's schema gives it */
export function writeResult(result: unknown, files: readonly TaskFile[], used: Usage): string {
  return JSON.stringify({ result, files, usage: used });
}

/** The line for an error that another try would bring again; undefined for others. */
export function writeLastingError(error: unknown): string | undefined {
  if (!(error instanceof PricelakeError)) return undefined;
  const { code, message, facts } = error;
  if (!(LASTING as readonly string[]).includes(code)) return undefined;
  return JSON.stringify({ error: { code, message: message.slice(0, 10_000), hint: facts.hint?.slice(0, 2_000) } });
}

/** A task's result, and the files that came with it. */
export interface Answer<O> {
  result: O;
  /** Files that the result names, to be read here. */
  files: TaskFile[];
  /** Files that only other tasks read. */
  left: TaskFile[];
  usage: Usage;
}

/**
 * The answer to a task, from the line that its worker printed.
 * @param asked the paths of the task: its files are in the folders of these
 * @throws PricelakeError the worker's, or `unavailable` for a line that is none of ours
 */
export function readAnswer<I, O>({ name, output }: TaskKind<I, O>, line: string, asked: TaskPaths): Answer<O> {
  try {
    const found = answer.parse(JSON.parse(line));
    if ('error' in found) {
      const { code, message, hint } = found.error;
      throw new PricelakeError(code, message, hint === undefined ? {} : { hint });
    }
    const paths = new TaskPaths(asked.roots);
    const result = z.decode(output(paths), found.result as never);
    const named = new Map(found.files.map((file) => [paths.locate(file.name), file]));
    const pick = (wanted: ReadonlySet<string>) =>
      [...wanted].map((path) => {
        if (!asked.hasBelow(path)) throw refuseResult(name, `${path} is not in a folder of the task`);
        const file = named.get(path);
        if (file === undefined) throw refuseResult(name, `${path} did not come along`);
        return file;
      });
    return { result, files: pick(paths.files), left: pick(paths.left), usage: found.usage };
  } catch (cause) {
    if (cause instanceof PricelakeError) throw cause;
    throw refuseAnswer(name, line, cause);
  }
}

/** For an answer that no worker of ours gives. */
function refuseAnswer(name: string, text: string, cause?: unknown) {
  return new PricelakeError(
    'unavailable',
    `a worker answered a task (${name}) with ${JSON.stringify(text.slice(0, 200))}`,
    { hint: 'Check engine.spark.worker in the pipeline file, or run the same command with --engine local.' },
    { cause },
  );
}

/** For a result that can't be right. */
export function refuseResult(name: string, why: string) {
  const hint = 'Nothing was published. Run the same command again, or with --engine local.';
  return new PricelakeError('unavailable', `a worker's result of a task (${name}) can't be right: ${why}`, { hint });
}

/** Says why these can't be all rows of a result. @param rows how many there are, where the run knows it */
export function refuseRows(files: readonly { rows: bigint }[], rows: bigint | undefined): string | undefined {
  const written = files.reduce((sum, file) => sum + file.rows, 0n);
  return rows === undefined || rows === written ? undefined : `it has ${written} rows, and the run counted ${rows}`;
}
