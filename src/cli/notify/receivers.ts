import type { NotifySettings } from '../../config/pipeline-schema.js';
import { parseDuration } from '../../config/units.js';
import { findReceiverFault } from '../../formats/receiver-url.js';
import { PricelakeError } from '../../io/errors.js';
import { findPipeline, seekPipeline } from '../find-pipeline.js';
import { type Form, repeated, value } from '../parameter.js';
import type { CliIo } from '../terminal-io.js';

const KINDS = ['slack', 'teams', 'url'] as const;

/** A destination for notifications. */
export type Receiver = { staleAfterMs: number } & (
  | { kind: (typeof KINDS)[number]; address: string; secret?: string | undefined }
  | { kind: 'command'; command: readonly string[] }
);

/**
 * A value of `--notify`. It contains the names of environment variables instead of addresses, because other users of
 * the machine can see command lines.
 */
type Named = { kind: 'command'; program: string } | { kind: (typeof KINDS)[number]; names: string[] };

const RECEIVER: Form<Named> = {
  what: '',
  parse: (typed) => {
    const [, kind, name = '', secret] = /^(slack|teams|url):([A-Za-z_]\w*)(?::([A-Za-z_]\w*))?$/.exec(typed) ?? [];
    const known = KINDS.find((one) => one === kind);
    if (known !== undefined && (secret === undefined || known === 'url')) {
      return { kind: known, names: secret === undefined ? [name] : [name, secret] };
    }
    const [, program] = /^command:([^\0]+)$/.exec(typed) ?? [];
    return program === undefined ? undefined : { kind: 'command', program };
  },
  placeholder: 'RECEIVER',
};

const one = value(
  RECEIVER,
  'Also notify this receiver, in addition to those in the pipeline file: slack:NAME, teams:NAME, url:NAME or url:NAME:SECRET, where NAME and SECRET are environment variables; or command:PROGRAM',
);

/**
 * The option `--notify`. Its error message doesn't quote the value, because the user may have typed a secret address
 * instead of a name.
 */
export const NOTIFY = repeated({
  ...one,
  read: (typed: unknown, flag: string): Named => {
    const parsed = typeof typed === 'string' ? RECEIVER.parse(typed) : undefined;
    if (parsed !== undefined) return parsed;
    throw new PricelakeError('usage', `${flag} is not a valid receiver`, {
      hint: "Use slack:NAME, teams:NAME, url:NAME or url:NAME:SECRET with the names of environment variables, or command:PROGRAM. Don't pass an address on the command line.",
    });
  },
});

const STALE_AFTER_MS = parseDuration('24h') ?? 0;

/**
 * Returns the receivers that the values of `--notify` describe.
 * @throws PricelakeError `usage` if an environment variable is unset or doesn't contain a valid address
 */
export function resolveFlags(flags: readonly Named[] = [], env: NodeJS.ProcessEnv, io: CliIo): Receiver[] {
  return flags.map((flag): Receiver => {
    const staleAfterMs = STALE_AFTER_MS;
    if (flag.kind === 'command') return { kind: 'command', command: [flag.program], staleAfterMs };
    const [address = '', secret] = flag.names.map((name) => env[name] ?? '');
    protect(io, address, secret);
    // A name in another form isn't shown, because the user may have typed the secret itself.
    const [shown] = flag.names.filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name));
    const where = `--notify ${flag.kind}:${shown ?? '…'}`;
    const fault = address === '' || secret === '' ? 'refers to a variable that is not set' : findReceiverFault(address);
    if (fault === undefined) return { kind: flag.kind, address, secret, staleAfterMs };
    throw new PricelakeError('usage', `${where} ${fault}`, {
      hint: "Set the variable to the receiver's address.",
    });
  });
}

export async function readReceivers(
  file: string,
  env: NodeJS.ProcessEnv,
  io: CliIo,
): Promise<{ name: string; receivers: Receiver[] }> {
  const { readNotify } = await import('../../config/pipeline-file.js');
  const { name, notify } = await readNotify(file, env);
  return { name, receivers: notify.flatMap((entry) => resolveEntry(entry, io)) };
}

/**
 * Reads the receivers from the pipeline file. If the user passed neither a pipeline file nor `--lake`, looks for the
 * file.
 */
export async function seekReceivers(
  { pipeline, lake }: { pipeline?: string | undefined; lake?: string | undefined },
  env: NodeJS.ProcessEnv,
  io: CliIo,
): Promise<{ name: string | undefined; receivers: Receiver[] }> {
  const file = lake === undefined ? await seekPipeline(pipeline, env) : pipeline && (await findPipeline(pipeline, env));
  return file === undefined || file === '' ? { name: undefined, receivers: [] } : readReceivers(file, env, io);
}

function resolveEntry(entry: NotifySettings['notify'][number], io: CliIo): Receiver[] {
  const { command, secret, staleAfter: staleAfterMs } = entry;
  if (command !== undefined) return [{ kind: 'command', command, staleAfterMs }];
  return KINDS.flatMap((kind): Receiver[] => {
    const address = entry[kind];
    if (address === undefined) return [];
    protect(io, address, secret);
    return [{ kind, address, secret, staleAfterMs }];
  });
}

function protect(io: CliIo, address: string, secret: string | undefined): void {
  for (const text of [address, secret ?? '']) io.protectSecret(text);
}
