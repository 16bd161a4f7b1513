/** A process that lives lives: what the runner sends, one after the other. */
import '../one-thread.js';
import { type Life, liveThrough } from './live-through.js';

/** How a life went. */
export interface Outcome {
  /** Undefined when all held. */
  failure?: string;
  /** CPU seconds. */
  seconds: number;
}

process.on('message', (life: Life) => {
  const before = process.cpuUsage();
  const tell = (failure?: string) => {
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    process.send?.(failure === undefined ? { seconds } : { failure, seconds });
  };
  liveThrough(life).then(
    () => tell(),
    (error: unknown) => tell(describe(error)),
  );
});

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'Mismatch') return error.message;
  const code = 'code' in error ? ` ${String(error.code)}` : '';
  return `${error.name}${code}: ${error.message}\n${error.stack?.split('\n').slice(1, 6).join('\n')}`;
}
