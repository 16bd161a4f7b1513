import { renderTable } from '../../src/deliver/markdown.js';

/** Every variable that the code or a shipped pipeline file reads, with what it does. */
export const VARIABLES: [name: string, meaning: string][] = [
  [
    'PRICELAKE_BASE_URL',
    'Address of the service. The shipped pipeline files, `status --online` and `sandbox advance` read it.',
  ],
  ['PRICELAKE_API_KEY', 'The API key. The shipped pipeline files and `status --online` read it.'],
  [
    'PRICELAKE_PIPELINE',
    'The pipeline file of commands that name none. If it is not set, they read `prices.yaml` of the current folder.',
  ],
  ['PRICELAKE_WEBHOOK_SECRET', 'What the service signs its webhooks with. The shipped pipeline file reads it.'],
  ['PRICELAKE_DEBUG', '`1` logs every step and prints the stack of an error, as `--verbose` does.'],
  [
    'XDG_STATE_HOME',
    'The prompt of `query` keeps its history in `pricelake/query-history` there. Default `~/.local/state`.',
  ],
  ['XDG_CACHE_HOME', 'With `--remote`, files are kept in `pricelake` there. Default `~/.cache`.'],
  [
    'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    'Proxy for calls to the service, for messages and for a `lake.remote`, and hosts that need none, as for curl. This machine needs none.',
  ],
  ['NODE_EXTRA_CA_CERTS', "Node reads it: certificates (PEM) of your network's own authority."],
  ['NO_COLOR', 'Any value turns colours off.'],
  [
    'FORCE_COLOR',
    '`1` turns colours on, also without a terminal; `0` turns them off. `--color` and `--no-color` take precedence.',
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
A pipeline file can name any other variable: \`\${NAME}\` takes its value from the environment. A variable that is not set is an
error.

Every command reads \`.env\` in the current folder. Variables that are already set take precedence.
`;
}
