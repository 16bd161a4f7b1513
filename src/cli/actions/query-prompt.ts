import { createInterface } from 'node:readline';
import { quoteIdentifier } from '../../duckdb/quote.js';
import { PricelakeError } from '../../errors/errors.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { formatError } from '../error-report.js';
import { findHistory, HISTORY_SIZE, QueryHistory } from '../query-history.js';
import type { CommandContext } from '../run-command.js';

const HELP = `One SELECT over any number of lines, ended by a semicolon. ↑ ↓: history.
.tables          names of the tables
.schema TABLE    columns and types
.exit            or Ctrl-D
`;

/** Runs one statement, and writes its result. */
export type RunStatement = (sql: string) => Promise<unknown>;

/** Where a person types, and where the lines are kept. */
export interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  /** File of the history. */
  historyFile: string;
}

const openTerminal = (): Terminal => ({
  input: process.stdin,
  output: process.stderr,
  historyFile: findHistory(process.env),
});

/** Reads statements from a terminal until its end. An error ends a statement, not the prompt. */
export async function promptQueries(
  context: Pick<CommandContext, 'output' | 'io'>,
  run: RunStatement,
  { input, output, historyFile }: Terminal = openTerminal(),
): Promise<void> {
  // A home that cannot be written costs the history, not the prompt.
  const history = await QueryHistory.open(historyFile).catch((error: unknown) => {
    context.io.log('warn', 'query.history_off', { file: historyFile, reason: String(error) });
    return undefined;
  });
  const lines = createInterface({
    ...{ input, output, terminal: true, historySize: HISTORY_SIZE, removeHistoryDuplicates: true },
    history: history?.lines ?? [],
  });
  lines.on('SIGINT', () => lines.close());
  const ask = (isOpen: boolean) => {
    lines.setPrompt(isOpen ? '       ... ' : 'pricelake> ');
    lines.prompt();
  };
  async function* read() {
    for await (const line of lines) {
      await history?.add(line);
      yield line;
    }
  }
  output.write(HELP);
  ask(false);
  try {
    await answerLines(read(), context, run, ask);
  } finally {
    lines.close();
    output.write('\n');
  }
}

/** Runs statements that span lines; `ask(true)` asks for the next line of an open one. */
export async function answerLines(
  lines: AsyncIterable<string>,
  { output, io }: Pick<CommandContext, 'output' | 'io'>,
  run: RunStatement,
  ask: (isOpen: boolean) => void,
): Promise<void> {
  let statement = '';
  for await (const line of lines) {
    if (statement === '' && line.trim() === '.exit') return;
    statement = statement === '' ? line.trim() : `${statement}\n${line}`;
    const isWhole = statement === '' || statement.startsWith('.') || /;\s*$/u.test(statement);
    if (isWhole && statement !== '') {
      await answer(statement, output, run).catch((error: unknown) => {
        if (!(error instanceof PricelakeError) || error.code === 'stopped') throw error;
        return output.write(`${io.redact(formatError(error))}\n`);
      });
      statement = '';
    }
    ask(statement !== '');
  }
}

async function answer(statement: string, output: CommandContext['output'], run: RunStatement): Promise<unknown> {
  if (!statement.startsWith('.')) return run(statement);
  const [word, name = ''] = statement.split(/\s+/u);
  if (word === '.tables') return output.write(`${TABLE_NAMES.join('\n')}\n`);
  const table = TABLE_NAMES.find((one) => one === name.replace(/;$/u, ''));
  if (word === '.schema' && table !== undefined) return run(`DESCRIBE ${quoteIdentifier(table)}`);
  return output.write(word === '.schema' ? `There is no table ${JSON.stringify(name)}; .tables lists them.\n` : HELP);
}
