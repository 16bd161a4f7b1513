import { renderTable } from '../../src/contracts/markdown.js';

/** Every variable that the code or a shipped pipeline file reads, with what it does. */
export const VARIABLES: [name: string, meaning: string][] = [
  [
    'PRICELAKE_BASE_URL',
    'Address of the service. The shipped pipeline files, `status --online` and `sandbox advance` read it.',
  ],
  ['PRICELAKE_API_KEY', 'The API key. The shipped pipeline files and `status --online` read it.'],
  [
    'PRICELAKE_PIPELINE',
    'The pipeline file of commands that are told none. Without it they read `prices.yaml` of the current folder.',
  ],
  ['PRICELAKE_WEBHOOK_SECRET', 'What the service signs its webhooks with. The shipped pipeline file reads it.'],
  ['PRICELAKE_DEBUG', '`1` logs every step and prints the stack of an error, as `--verbose` does.'],
  ['NO_COLOR', 'Any value turns colours off.'],
  [
    'FORCE_COLOR',
    '`1` turns colours on, also where no terminal is; `0` turns them off. `--color` and `--no-color` go before it.',
  ],
  ['TERM', '`dumb` turns colours off.'],
];

/** `docs/reference/environment.md`. */
export function renderEnvironment(): string {
  return `# Environment

${renderTable(
  ['variable', 'meaning'],
  VARIABLES.map(([name, meaning]) => [`\`${name}\``, meaning]),
)}
A pipeline file can name any other variable: \`\${NAME}\` takes its value from the environment. A variable that is not set is
an error.

Every command reads \`.env\` of the current folder first. What the environment sets goes before it.
`;
}
