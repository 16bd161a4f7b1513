/** A process that lives lives: what the runner sends, one after the other. */
import '../one-thread.js';
import { type Life, liveThrough } from './live-through.js';
import { liveThroughAnswers } from './live-through-answers.js';
import { liveThroughDamage } from './live-through-damage.js';
import { Script } from './script.js';

/** How a life went. */
export interface Outcome extends Partial<Pick<Script, 'happened' | 'faults' | 'trace'>> {
  /** Undefined when all held. */
  failure?: string | undefined;
  /** CPU seconds. */
  seconds: number;
}

/** Lives through a life with its trouble. */
function live(life: Life, script: Script): Promise<void> {
  if (life.trouble === 'damage') return liveThroughDamage(life, script);
  if (life.trouble === 'answers') return liveThroughAnswers(life, script);
  return liveThrough(life, script);
}

process.on('message', (life: Life) => {
  const before = process.cpuUsage();
  const script = new Script(life);
  const tell = (failure?: string) => {
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    const { happened, faults, trace } = script;
    process.send?.({ failure, happened, faults, trace, seconds } satisfies Outcome);
  };
  live(life, script).then(
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
