import { PricelakeError } from '../errors/errors.js';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** After a stop of what a later start continues. */
export const RESUME_HINT = 'What has landed is kept: run the same command again, and it continues where it stopped.';

/**
 * The first SIGINT or SIGTERM aborts the signal with a PricelakeError `stopped`; the second SIGINT ends the
 * process at once. `release` gives the signals back.
 */
export function watchStopSignals(
  target: NodeJS.Process = process,
  hint?: string,
): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const listeners = STOP_SIGNALS.map((name) => {
    const listener = () => {
      if (controller.signal.aborted) target.exit(name === 'SIGINT' ? 130 : 143);
      const facts = { signal: name, ...(hint === undefined ? {} : { hint }) };
      controller.abort(new PricelakeError('stopped', `stopped by ${name}`, facts));
    };
    target.on(name, listener);
    return { name, listener };
  });
  return {
    signal: controller.signal,
    release: () => {
      for (const { name, listener } of listeners) target.off(name, listener);
    },
  };
}
