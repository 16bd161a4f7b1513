import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { PricelakeError } from '../io/errors.js';
import { packagePath } from '../io/package-path.js';
import { makeScratchFolder } from '../io/scratch-folder.js';
import { RETRY_HINT, Submission } from './submission.js';
import { WORK_WORD } from './workers.js';

export interface Submitted {
  /** The program that submits, and its options. */
  submit: readonly string[];
  /** The command that starts pricelake on a machine of the cluster. */
  worker: readonly string[];
  /** Texts that must not reach the cluster. */
  secrets: readonly string[];
}

/** No answer is longer: a task of 150,000 rows may name a file for each of its websites. */
const MAX_LINE = 64 * 1024 * 1024;
/** Longest path of a socket that every system takes. */
const MAX_PATH = 100;

interface Listener {
  /** Gets each line. May throw if it is none. */
  take: (text: string) => void;
  /** Gets the error that ends the job. */
  fail: (error: unknown) => void;
}

/** A program that runs tasks, and the connection to it. */
export class Job {
  readonly #folder: string;
  readonly #server: Server;
  readonly #submission: Submission;
  readonly #link: Socket;

  private constructor(folder: string, server: Server, submission: Submission, link: Socket) {
    this.#folder = folder;
    this.#server = server;
    this.#submission = submission;
    this.#link = link;
  }

  /** Submits the program, and waits until it connects. `listener` gets its lines, and the error if it ends too early. */
  static async open({ submit, worker, secrets }: Submitted, listener: Listener, ending: AbortSignal): Promise<Job> {
    // Only this user may enter the folder.
    const folder = await makeScratchFolder('spark');
    const path = join(folder, 'tasks');
    if (path.length > MAX_PATH) {
      await rm(folder, { recursive: true });
      throw new PricelakeError('config', `${path} is too long for a socket`, { hint: 'Set TMPDIR to a shorter path.' });
    }
    const server = createServer();
    const program = [packagePath('pipelines/spark/run_tasks.py'), path, ...worker, WORK_WORD];
    let submission: Submission | undefined;
    try {
      await new Promise<void>((ready, fail) => server.once('error', fail).listen(path, ready));
      ending.throwIfAborted();
      submission = new Submission([...submit, ...program], secrets);
      const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
      const stopped = new Promise<never>((_, reject) => {
        ending.addEventListener('abort', () => reject(ending.reason), { once: true });
      });
      stopped.catch(() => {}); // also after the job has opened
      const link = await Promise.race([connected, submission.ended, stopped]);
      const job = new Job(folder, server, submission, link);
      job.#listen(listener);
      ending.addEventListener('abort', () => job.#submission.kill('SIGTERM'), { once: true });
      return job;
    } catch (error) {
      await submission?.end(true);
      server.close();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  send(text: string): void {
    this.#link.write(text);
  }

  /** Ends the program: at once where its work is of no use any more. */
  async close(isFailed: boolean): Promise<void> {
    this.#link.end();
    await this.#submission.end(isFailed);
    this.#link.destroy();
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #listen({ take, fail }: Listener): void {
    let rest = '';
    this.#link.setEncoding('utf8');
    this.#link.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      try {
        if (rest.length > MAX_LINE) throw new Error('a line does not end');
        for (const one of lines) take(one);
      } catch (cause) {
        const what = 'the program that runs tasks on Spark sent something else than results';
        fail(new PricelakeError('unavailable', what, { hint: RETRY_HINT }, { cause }));
      }
    });
    this.#link.on('error', () => {}); // the end of the process says more
    this.#submission.ended.catch(fail);
  }
}
