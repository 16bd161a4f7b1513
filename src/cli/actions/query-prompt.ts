import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import { quoteIdentifier } from '../../sql/quote.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { CommandContext } from '../command.js';
import { fitError, formatError } from '../exit-codes.js';

const HELP = `Type a SELECT on one or more lines and end it with a semicolon. ↑ and ↓ recall earlier lines.
.tables          table names
.schema TABLE    a table's columns and types
.exit            exit (also Ctrl-D)
Ctrl-C           stop the query, or discard the input
`;

export type RunStatement = (sql: string) => Promise<unknown>;

/** The state of the prompt. `statement` contains the lines of a statement that the user hasn't finished typing. */
interface Progress {
  statement: string;
  state: 'typing' | 'running' | 'interrupted';
}

export interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  historyFile: string;
}

const openTerminal = (): Terminal => ({
  input: process.stdin,
  output: process.stderr,
  historyFile: findHistory(process.env),
});

/**
 * Reads statements from a terminal until end of file, and runs them. If a statement fails, the prompt continues. Ctrl-C
 * interrupts the running statement. If no statement is running, Ctrl-C discards the typed text, or ends the prompt if
 * nothing is typed.
 */
export async function promptQueries(
  context: Pick<CommandContext, 'output' | 'io'>,
  run: RunStatement,
  interrupt: () => void,
  { input, output, historyFile }: Terminal = openTerminal(),
): Promise<void> {
  // If the history file can't be read or written, the prompt works without a history.
  const history = await openHistory(historyFile).catch((error: unknown) => {
    context.io.log('warn', 'query.history_off', { file: historyFile, reason: String(error) });
    return undefined;
  });
  const lines = createInterface({
    ...{ input, output, terminal: true, historySize: HISTORY_SIZE, removeHistoryDuplicates: true },
    history: history ?? [],
  });
  const progress: Progress = { statement: '', state: 'typing' };
  const ask = (isOpen: boolean) => {
    lines.setPrompt(isOpen ? '       ... ' : 'pricelake> ');
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    // DuckDB can't be interrupted while it computes a single value, so a second Ctrl-C ends the process.
    if (progress.state === 'interrupted') process.kill(process.pid, 'SIGINT');
    if (progress.state !== 'typing') {
      progress.state = 'interrupted';
      return interrupt();
    }
    if (lines.line === '' && progress.statement === '') return lines.close();
    progress.statement = '';
    lines.write(null, { ctrl: true, name: 'e' });
    lines.write(null, { ctrl: true, name: 'u' });
    output.write('^C\n');
    ask(false);
  });
  async function* read() {
    for await (const line of lines) {
      // Each line is saved at once, so that it isn't lost if this process is killed.
      if (history !== undefined && line.trim() !== '') await appendFile(historyFile, `${line}\n`, { mode: 0o600 });
      yield line;
    }
  }
  output.write(HELP);
  ask(false);
  try {
    await answerLines(read(), context, run, ask, progress);
  } finally {
    lines.close();
    output.write('\n');
  }
}

/**
 * Runs statements, each of which may extend over several lines. Calls `ask(true)` to request another line of an
 * unfinished statement, and `ask(false)` to request a new statement.
 */
export async function answerLines(
  lines: AsyncIterable<string>,
  { output, io }: Pick<CommandContext, 'output' | 'io'>,
  run: RunStatement,
  ask: (isOpen: boolean) => void,
  progress: Progress = { statement: '', state: 'typing' },
): Promise<void> {
  for await (const line of lines) {
    if (progress.statement === '' && line.trim() === '.exit') return;
    const statement = progress.statement === '' ? line.trim() : `${progress.statement}\n${line}`;
    const isWhole = statement === '' || statement.startsWith('.') || /;\s*$/u.test(statement);
    progress.statement = isWhole ? '' : statement;
    if (isWhole && statement !== '') {
      progress.state = 'running';
      await answer(statement, output, run).catch((error: unknown) => {
        if (progress.state === 'interrupted') return output.write('Stopped.\n');
        if (!(error instanceof PricelakeError) || error.code === 'stopped') throw error;
        return output.write(`${fitError(io.redact(formatError(error)), output.columns)}\n`);
      });
      progress.state = 'typing';
    }
    ask(progress.statement !== '');
  }
}

async function answer(statement: string, output: CommandContext['output'], run: RunStatement): Promise<unknown> {
  if (!statement.startsWith('.')) return run(statement);
  const [word, name = ''] = statement.split(/\s+/u);
  if (word === '.tables') return output.write(`${TABLE_NAMES.join('\n')}\n`);
  const table = TABLE_NAMES.find((one) => one === name.replace(/;$/u, ''));
  if (word === '.schema' && table !== undefined) return run(`DESCRIBE ${quoteIdentifier(table)}`);
  return output.write(
    word === '.schema' ? `There is no table named ${JSON.stringify(name)}. Type .tables for a list.\n` : HELP,
  );
}

export const HISTORY_SIZE = 1000;

/** Returns the path of the history file, which is `pricelake/query-history` in the user's state folder. */
export function findHistory(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'pricelake', 'query-history');
}

/**
 * Returns the lines that the user typed at earlier prompts, newest first. Removes all but the newest HISTORY_SIZE lines
 * from the file, which only the current user can read.
 */
async function openHistory(file: string): Promise<string[]> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return '';
    throw error;
  });
  const lines = text.split('\n').filter((line) => line !== '');
  const kept = lines.slice(-HISTORY_SIZE);
  await writeFile(file, kept.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  await chmod(file, 0o600); // `mode` applies only to new files
  return kept.reverse();
}
