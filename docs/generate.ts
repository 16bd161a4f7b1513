import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadChecks } from '../src/check/load.js';
import { exitCodeOf } from '../src/cli/exit-codes.js';
import { buildProgram } from '../src/cli/program.js';
import { renderTable, writeMarkdown } from '../src/contracts/markdown.js';
import { type ErrorCode, PricelakeError } from '../src/errors/errors.js';
import { packagePath } from '../src/io/package-path.js';
import { loadTableSchema } from '../src/tables/schemas.js';
import { TABLE_NAMES } from '../src/tables/table.js';
import { makeAnalystLake } from './analyst-lake.js';
import { renderAnalysts } from './analysts.js';

const WIDTH = 100;

/** A command and what `--help` prints for it. */
export interface CommandHelp {
  /** E.g. `sandbox advance`; empty for the program itself. */
  name: string;
  help: string;
}

/** The help of the program and of every command, from the definitions that parse the command line. */
export async function listHelps(name = ''): Promise<CommandHelp[]> {
  const args = [...name.split(' ').filter((word) => word !== ''), '--help'];
  const help = await new Promise<string>((resolve) => {
    void buildProgram(args)
      .wrap(WIDTH)
      .parse(args, {}, (_error: unknown, _argv: unknown, output: string) => resolve(output.trimEnd()));
  });
  const pattern = new RegExp(`^ {2}pricelake ${name === '' ? '' : `${name} `}([a-z]+)\\b.* {2}`, 'gm');
  const [commands = ''] = /^Commands:\n(?: .*\n?)*/m.exec(help) ?? [];
  const helps = [{ name, help }];
  for (const [, word] of commands.matchAll(pattern)) helps.push(...(await listHelps(`${name} ${word}`.trim())));
  return helps;
}

/** Error codes with what they mean, as src/errors/errors.ts lists them. */
export function listErrorCodes(): { code: ErrorCode; meaning: string; exit: number }[] {
  const source = readFileSync(packagePath('src/errors/errors.ts'), 'utf8');
  const [, union = ''] = /export type ErrorCode =\n((?: .*\n)+)/.exec(source) ?? [];
  return [...union.matchAll(/\| '(\w+)';?(?: \/\/ (.*))?/g)].map(([, name = '', meaning = '']) => {
    const code = name as ErrorCode;
    return {
      code,
      meaning: meaning === '' ? code.replaceAll('_', ' ') : meaning,
      exit: exitCodeOf(new PricelakeError(code, '', { signal: 'SIGINT' })),
    };
  });
}

/** `docs/cli.md`. */
export async function renderCli(): Promise<string> {
  const helps = await listHelps();
  const sections = helps.map(({ name, help }) => `## ${`pricelake ${name}`.trim()}\n\n\`\`\`text\n${help}\n\`\`\`\n`);
  const codes = listErrorCodes().map(({ code, meaning, exit }) => [`\`${code}\``, meaning, String(exit)]);
  return `# Command line

Made from the definitions of the command line by \`npm run docs\`.

Results go to stdout, logs and progress to stderr: bars and lines on a terminal, JSON lines elsewhere. With \`--json\` the
last line of stdout is one JSON object: \`{"ok": true, …}\`, or \`{"ok": false, "error": {"code", "message", "hint", …}}\`.
What each exit code asks you to do stands in [operations](operations.md#exit-codes).

## Environment

${renderTable(
  ['variable', 'meaning'],
  [
    [
      '`PRICELAKE_API_KEY`, `PRICELAKE_BASE_URL`',
      'what the shipped pipeline files take their key and address from; `sandbox advance` takes its address from the second',
    ],
    ['`PRICELAKE_DEBUG=1`', 'logs every step, and prints the stack of an error'],
  ],
)}
## Errors

${renderTable(['code', 'meaning', 'exit code'], codes)}
Any other error has the code \`unexpected\` and exit code 1. \`stopped\` exits with 130 for SIGINT and 143 for SIGTERM.

${sections.join('\n')}`;
}

/** `docs/tables.md`. */
export function renderTables(): string {
  const schemas = TABLE_NAMES.map(loadTableSchema);
  const index = schemas.map((schema) => [`[${schema.table}](#${schema.table})`, schema.description]);
  const sections = schemas.map(writeMarkdown);
  return `# Tables

Made from \`schemas/*.yaml\`, the only authority on names and types, by \`npm run docs\`.

Money is DECIMAL(18,4) and exact, never a float. Times are UTC in microseconds. Ids and cursors are int64: some exceed
2^53, so read them as 64-bit integers. JSON is kept as text.

${renderTable(['table', 'what it holds'], index)}
${sections.join('\n')}`;
}

/** `docs/checks.md`. */
export async function renderChecks(): Promise<string> {
  const sections = (await loadChecks()).map(({ name, severity, description, next, parameters }) => {
    const rows = parameters.map((one) => [`\`${one.name}\``, one.type, `\`${one.default}\``, one.meaning]);
    const table = rows.length === 0 ? '' : `\n${renderTable(['parameter', 'type', 'default', 'meaning'], rows)}`;
    return `## ${name}\n\n**${severity}** · ${description}\n\nIf it fails: ${next}\n${table}`;
  });
  return `# Checks

Made from the headers of \`pipelines/checks/*.sql\` by \`npm run docs\`.

A gate holds the batch: nothing is published. An error or a warning is recorded in \`check_results\`, logged, and shown by
\`status\` and the report. Set severity and parameters under \`checks:\` of the pipeline file.

${sections.join('\n')}`;
}

/** The documents that are generated whole, by path in the project; of docs/analysts.md it is the outputs alone. */
export async function renderAll(): Promise<Record<string, string>> {
  return {
    'docs/cli.md': await renderCli(),
    'docs/tables.md': renderTables(),
    'docs/checks.md': await renderChecks(),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await renderAll())) writeFileSync(packagePath(file), text);
  const lake = await makeAnalystLake();
  const analysts = packagePath('docs/analysts.md');
  writeFileSync(analysts, await renderAnalysts(readFileSync(analysts, 'utf8'), lake.folder));
  await lake.close();
}
