/** A process that lives lives: what the runner sends, one after the other. */
import '../one-thread.js';
import { type Life, liveThrough } from './live-through.js';
import { liveThroughAnswers } from './live-through-answers.js';
import { liveThroughDamage } from './live-through-damage.js';

/** How a life went. */
export interface Outcome {
  /** Undefined when all held. */
  failure?: string;
  /** Kinds of the faults that it met, one for each. */
  faults: string[];
  /** CPU seconds. */
  seconds: number;
}

/** Lives through a life with its trouble. */
function live(life: Life, onFault: (kind: string) => void): Promise<void> {
  if (life.trouble === 'damage') return liveThroughDamage(life, onFault);
  if (life.trouble === 'answers') return liveThroughAnswers(life, onFault);
  return liveThrough(life, onFault);
}

process.on('message', (life: Life) => {
  const before = process.cpuUsage();
  const faults: string[] = [];
  const tell = (failure?: string) => {
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    process.send?.({ ...(failure === undefined ? {} : { failure }), faults, seconds } satisfies Outcome);
  };
  live(life, (fault) => faults.push(fault)).then(
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
