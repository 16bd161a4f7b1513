import { PricelakeError } from '../io/errors.js';
import { errorCodeOf } from './exit-codes.js';
import { toPlainLine } from './plain-text.js';

/** For people: one line, then what to do and where to read more. */
export function formatError(error: unknown): string {
  const lines = [`pricelake: ${messageOf(error)}`];
  const { hint, docsUrl, upgradeUrl, nextRunAt } = factsOf(error);
  if (hint !== undefined) lines.push(`  → ${toPlainLine(hint)}`);
  if (nextRunAt !== undefined) lines.push(`  next run: ${nextRunAt.toISOString()}`);
  if (docsUrl !== undefined) lines.push(`  docs: ${toPlainLine(docsUrl)}`);
  if (upgradeUrl !== undefined) lines.push(`  plans: ${toPlainLine(upgradeUrl)}`);
  return lines.join('\n');
}

/** For machines, as the last line of stdout with `--json`. */
export function describeError(error: unknown): Record<string, unknown> {
  const { hint, docsUrl, upgradeUrl, nextRunAt, ...facts } = factsOf(error);
  const rest = Object.keys(facts).length > 0 ? { facts } : {};
  return {
    ok: false,
    error: { code: errorCodeOf(error), message: messageOf(error), hint, docsUrl, upgradeUrl, nextRunAt, ...rest },
  };
}

/** The message on one line. */
export function messageOf(error: unknown): string {
  return toPlainLine(error instanceof Error ? error.message : String(error));
}

function factsOf(error: unknown): PricelakeError['facts'] {
  if (error instanceof PricelakeError) return error.facts;
  if (errorCodeOf(error) === 'open_files') return { hint: 'Raise the limit of open files (`ulimit -n 4096`).' };
  if (errorCodeOf(error) === 'out_of_memory') return { hint: 'Run the command on a machine with more memory.' };
  if (errorCodeOf(error) === 'disk_full') return { hint: 'Free some space and run the command again.' };
  return {};
}
