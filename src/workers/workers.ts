import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import { PRICELAKE_VERSION } from '../io/package-path.js';

/** The word behind the command that starts a worker: `pricelake __work`. */
export const WORK_WORD = '__work';

/** Tasks that workers get at once. More of them wait for the first. */
export const MOST_TASKS = 512;

/** A kind of work that another process can do. Both sides turn its values into JSON and back by these schemas. */
export interface TaskKind<I, O> {
  readonly name: string;
  readonly input: z.ZodType<I>;
  readonly output: z.ZodType<O>;
}

/** Processes that do pieces of a run's work, on other machines. They see the lake's folder under the same path. */
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
  z.codec(z.array(z.tuple([key, value])), z.map(key, value), {
    decode: (pairs) => new Map(pairs as [z.input<K>, z.input<V>][]),
    encode: (map) => [...map] as never,
  });

/** A Set as JSON: a list. */
export const setOf = <V extends z.ZodType>(value: V) =>
  z.codec(z.array(value), z.set(value), {
    decode: (list) => new Set(list as z.input<V>[]),
    encode: (set) => [...set] as z.output<V>[],
  });

/** The folder that both sides see, and a file in it with a name that no other folder has. */
const place = z.strictObject({ folder: z.string(), mark: z.string() });
export type SharedPlace = z.infer<typeof place>;

/** The line that a worker reads. All that it needs beside is in the package and in the lake. */
const request = z.strictObject({
  version: z.string(),
  kind: z.string(),
  place,
  /** DuckDB's limit, as the session takes it. */
  memory: z.union([z.number(), z.string()]),
  task: z.unknown(),
});
export type TaskRequest = z.infer<typeof request>;

/** Errors that another try would bring again. Anything else ends the worker, and the cluster tries again elsewhere. */
const LASTING = ['config', 'contract', 'lake_invalid', 'lake_read_only', 'disk_full', 'out_of_memory'] as const;

const usage = z.object({ seconds: z.number(), cpuSeconds: z.number(), maxBytes: z.number() });
/** The time and memory that a worker process took until its answer. */
export type Usage = z.infer<typeof usage>;

const answer = z.union([
  z.strictObject({ result: z.unknown(), usage }),
  z.strictObject({
    error: z.strictObject({
      code: z.enum(LASTING),
      message: z.string().max(10_000),
      hint: z.string().max(2_000).optional(),
    }),
  }),
]);

export function writeRequest<I, O>(
  { name, input }: TaskKind<I, O>,
  task: I,
  { memory, place }: Pick<TaskRequest, 'memory' | 'place'>,
): string {
  const whole: TaskRequest = { version: PRICELAKE_VERSION, kind: name, place, memory, task: z.encode(input, task) };
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

export function writeResult<I, O>({ output }: TaskKind<I, O>, result: O, used: Usage): string {
  return JSON.stringify({ result: z.encode(output, result), usage: used });
}

/** The line for an error that another try would bring again; undefined for others. */
export function writeLastingError(error: unknown): string | undefined {
  if (!(error instanceof PricelakeError)) return undefined;
  const { code, message, facts } = error;
  if (!(LASTING as readonly string[]).includes(code)) return undefined;
  return JSON.stringify({ error: { code, message: message.slice(0, 10_000), hint: facts.hint?.slice(0, 2_000) } });
}

/**
 * The result of a task, from the line that its worker printed.
 * @throws PricelakeError the worker's, or `unavailable` for a line that is none of ours
 */
export function readAnswer<I, O>({ name, output }: TaskKind<I, O>, line: string): { result: O; usage: Usage } {
  try {
    const found = answer.parse(JSON.parse(line));
    if (!('error' in found)) return { result: z.decode(output, found.result as never), usage: found.usage };
    const { code, message, hint } = found.error;
    throw new PricelakeError(code, message, hint === undefined ? {} : { hint });
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
