import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { hasSystemCode } from '../errors/errors.js';

/** Lines that the prompt remembers. */
export const HISTORY_SIZE = 1000;

/** `pricelake/query-history` in the user's state folder. */
export function findHistory(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'pricelake', 'query-history');
}

/** The lines of a prompt, kept in a file that only its user can read. */
export class QueryHistory {
  readonly #file: string;

  private constructor(
    file: string,
    /** Lines of earlier prompts, the newest first. */
    readonly lines: string[],
  ) {
    this.#file = file;
  }

  /** Reads the file, and shortens it to the newest lines. An error of the file system is the caller's. */
  static async open(file: string): Promise<QueryHistory> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (hasSystemCode(error, 'ENOENT')) return '';
      throw error;
    });
    const kept = text
      .split('\n')
      .filter((line) => line !== '')
      .slice(-HISTORY_SIZE);
    await writeFile(file, kept.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    await chmod(file, 0o600); // `mode` counts for new files only
    return new QueryHistory(file, kept.reverse());
  }

  /** Adds a line at once, so that neither a kill nor a second prompt loses it. */
  async add(line: string): Promise<void> {
    if (line.trim() !== '') await appendFile(this.#file, `${line}\n`, { mode: 0o600 });
  }
}
