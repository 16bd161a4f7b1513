import { PricelakeError } from '../io/errors.js';

/** A run that commits meanwhile deletes the files that it replaces, unless lake.retention keeps them. */
export function explainLostFile(error: unknown): unknown {
  const lost =
    error instanceof Error && /^IO Error: .*(No files found|Cannot open file|No such file)/su.test(error.message);
  if (!lost) return error;
  const message = 'a run replaced files of the lake while this command read them';
  return new PricelakeError('unavailable', message, { hint: 'Run the command again.' }, { cause: error });
}
