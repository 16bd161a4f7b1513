import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { PricelakeError } from '../io/errors.js';

export const RETRY_HINT = 'What has landed is kept: run the same command again, or with --engine local.';

/** Variables that Spark, Java, Python and their clusters read. All others stay here: they may be secrets. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|LD_LIBRARY_PATH|KUBECONFIG|(?:JAVA|JDK|SPARK|HADOOP|YARN|PYSPARK|PYTHON|CONDA|VIRTUAL_ENV|KRB5)\w*)$/;

/** The last lines of its output that are kept. */
const TAIL_LINES = 12;
const TAIL_CHARACTERS = 4_000;

/** Time to end by itself, and after a SIGTERM. */
const END_MS = 20_000;
const KILL_MS = 10_000;
const LAST_WORDS_MS = 1_000;

/** A process that was started to submit work to a cluster, with all that it started in turn. */
export class Submission {
  /** Rejects when the process has ended, whatever the reason. */
  readonly ended: Promise<never>;
  /** Resolves when the process has ended with exit code 0; else rejects as `ended` does. */
  readonly done: Promise<void>;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #tail = '';
  /** Its number may be another process's by now. */
  #isOver = false;

  /**
   * @param secrets texts that no variable of its environment may hold
   * @param hint what to do if it ends too early
   */
  constructor([program = '', ...args]: readonly string[], secrets: readonly string[], hint = RETRY_HINT) {
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name, value]) => PASSED.test(name) && !secrets.some((secret) => value?.includes(secret)),
      ),
    );
    // A group of its own: a Ctrl-C at the terminal reaches this process alone, which ends it in order.
    this.#child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: environment });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#note(text));
    }
    let exited = () => {};
    this.#exited = new Promise((resolve) => {
      exited = resolve;
    });
    this.ended = new Promise<never>((_, reject) => {
      this.#child.once('error', (cause: NodeJS.ErrnoException) => {
        const why = cause.code === 'ENOENT' ? 'there is no such program' : cause.message;
        const what = `engine.spark.submit: ${program} can't be started: ${why}`;
        const install = 'Install Spark on this machine, or name its spark-submit in the pipeline file.';
        reject(new PricelakeError('config', what, { hint: install }, { cause }));
        exited();
      });
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        const how = code === null ? `by ${signal}` : `with exit code ${code}`;
        reject(
          new PricelakeError('unavailable', `${program} ended ${how} before the work was done`, {
            hint,
            exitCode: code,
            ...(this.#tail === '' ? {} : { excerpt: this.#tail.split('\n').slice(-TAIL_LINES).join('\n').trim() }),
          }),
        );
        exited();
      };
      this.#child.once('exit', (code, signal) => {
        this.kill('SIGKILL'); // what it left
        this.#isOver = true;
        // Its last words are still on their way. Something that it started may keep the pipe open for ever.
        setTimeout(end, LAST_WORDS_MS, code, signal).unref();
        this.#child.once('close', end);
      });
    });
    this.done = this.ended.catch((error: PricelakeError) => {
      if (error.facts.exitCode !== 0) throw error;
    });
    for (const one of [this.ended, this.done]) one.catch(() => {}); // whoever waits gets it
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isOver) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group has ended.
    }
  }

  /** Waits for its end, and ends it if that takes long; with `atOnce`, it is told so before. */
  async end(atOnce: boolean): Promise<void> {
    if (atOnce) this.kill('SIGTERM');
    else await this.#wait(END_MS);
    this.kill('SIGTERM');
    await this.#wait(KILL_MS);
    this.kill('SIGKILL');
    await this.#exited;
  }

  async #wait(ms: number): Promise<void> {
    const timer = new AbortController();
    const late = wait(ms, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([this.#exited, late]);
    timer.abort();
  }

  #note(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARACTERS);
  }
}
