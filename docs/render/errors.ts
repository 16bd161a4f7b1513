import { readFileSync } from 'node:fs';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { renderTable } from '../../src/deliver/markdown.js';
import { type ErrorCode, PricelakeError } from '../../src/io/errors.js';
import { packagePath } from '../../src/io/package-path.js';

/** Exit codes in the order of the page, with what happened and what to do. */
const EXITS: [code: string, happened: string, next: string][] = [
  ['0', 'The command succeeded.', ''],
  ['1', 'Something unexpected happened, or the disk is full.', 'Read the message. `PRICELAKE_DEBUG=1` shows more.'],
  ['2', 'The command line, the pipeline file or the folder is wrong.', 'Follow the message.'],
  ['3', 'A check or a proof failed.', 'See [held batches](../engineer/recover.md#held-batches).'],
  ['4', 'The service refuses the key or the plan.', 'Set a valid key, or change the plan in the portal.'],
  [
    '5',
    "The budget or the month's quota is used up.",
    'Wait until `next_run_at`, or [raise the budget](../engineer/cost.md).',
  ],
  ['6', 'Another run is using the lake.', 'Nothing, because the other run does the work.'],
  [
    '7',
    '`watch` found a shop that is certainly below your lowest allowed price.',
    'Read the result; `below_now` and `below_first` list the shops.',
  ],
  [
    '75',
    'A temporary fault occurred, or `--deadline` has passed.',
    'Try again later, or at `next_run_at` if it is set.',
  ],
  [
    '129 to 143',
    'SIGHUP, SIGINT or SIGTERM stopped the command. Under nohup, SIGHUP does not stop it.',
    'Run the command again. It continues where it stopped.',
  ],
];

/** Lists the error codes with their meanings from src/io/errors.ts. */
export function listErrorCodes(): { code: ErrorCode; meaning: string; exit: number }[] {
  const source = readFileSync(packagePath('src/io/errors.ts'), 'utf8');
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

/** `docs/reference/errors.md`. */
export function renderErrors(): string {
  const codes = listErrorCodes().map(({ code, meaning, exit }) => `- \`${code}\` (${exit}): ${meaning}`);
  return `# Errors and exit codes

Schedulers should branch on the exit code, and programs on \`error.code\` in the JSON that \`--json\` prints. The codes are stable, but the messages are not.

## Exit codes

${renderTable(['exit code', 'what happened', 'what to do'], EXITS)}
A run retries after network faults, 429 and 5xx before it gives up.

## Error codes

The exit code is in brackets.

${codes.join('\n')}

Every other error has the code \`unexpected\` and exit code 1. \`stopped\` exits with 129 after SIGHUP, 130 after SIGINT, 143 after
SIGTERM.
`;
}
