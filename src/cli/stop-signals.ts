import { PricelakeError } from '../errors.js';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * The first SIGINT or SIGTERM aborts the signal with a PricelakeError `stopped`; the second SIGINT ends the
 * process at once. `release` gives the signals back.
 */
export function watchStopSignals(target: NodeJS.Process = process): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const listeners = STOP_SIGNALS.map((name) => {
    const listener = () => {
      if (controller.signal.aborted) target.exit(name === 'SIGINT' ? 130 : 143);
      controller.abort(new PricelakeError('stopped', `stopped by ${name}`, { signal: name }));
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
