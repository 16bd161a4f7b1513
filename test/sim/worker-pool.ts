/** Processes that live lives side by side. One that hangs or dies is replaced, and that is the life's failure. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './life-worker.js';
import type { Life } from './live-through.js';

/** A life takes seconds of CPU time, which are minutes on a busy machine at low priority. One of 20 minutes hangs. */
const PATIENCE_MS = 1_200_000;
/** A process is replaced after so many lives: what native code leaks stays small. */
const LIVES = 150;
/** Node collects the garbage of its small default heap 17 times in a life; with so many megabytes, once. */
const HEAP = ['--initial-heap-size=600', '--min-semi-space-size=64', '--max-semi-space-size=64'];

export class Worker {
  #child: ChildProcess | undefined;
  #lives = 0;

  live(life: Life): Promise<Outcome> {
    if (this.#lives++ >= LIVES) this.stop();
    this.#child ??= this.#start();
    const child = this.#child;
    return new Promise((resolve) => {
      const settle = (outcome: Outcome) => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
        resolve(outcome);
      };
      const fail = (failure: string) => {
        this.stop();
        settle({ failure, seconds: 0 });
      };
      const onMessage = (outcome: unknown) => settle(outcome as Outcome);
      const onExit = (code: number | null) => fail(`the process died with ${code}`);
      const timer = setTimeout(() => fail('the run hangs'), PATIENCE_MS);
      child.once('message', onMessage);
      child.once('exit', onExit);
      child.send(life);
    });
  }

  stop(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
    this.#lives = 0;
  }

  #start(): ChildProcess {
    return fork(fileURLToPath(new URL('./life-worker.ts', import.meta.url)), {
      stdio: 'inherit',
      execArgv: [...process.execArgv, ...HEAP, '--no-warnings'],
    });
  }
}
