import { renderTable } from '../../src/deliver/markdown.js';

/** Every environment variable that the code or a shipped pipeline file reads, with its effect. */
export const VARIABLES: [name: string, meaning: string][] = [
  [
    'PRICELAKE_BASE_URL',
    'Address of the service. The shipped pipeline files, `status --online` and `sandbox advance` read it.',
  ],
  ['PRICELAKE_API_KEY', 'The API key. The shipped pipeline files and `status --online` read it.'],
  [
    'PRICELAKE_PIPELINE',
    'The default pipeline file. If it is not set, commands read `prices.yaml` in the current folder.',
  ],
  ['PRICELAKE_WEBHOOK_SECRET', 'The secret that signs webhooks. The shipped pipeline file reads it.'],
  ['PRICELAKE_DEBUG', '`1` logs every step and prints the stack of an error, as `--verbose` does.'],
  [
    'XDG_STATE_HOME',
    'Base folder for the history of the `query` prompt, `pricelake/query-history`. Default `~/.local/state`.',
  ],
  ['XDG_CACHE_HOME', 'Base folder for files cached by `--remote`, in `pricelake`. Default `~/.cache`.'],
  [
    'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    'Proxies for calls to the service, for messages and for `lake.remote`, and hosts to reach without a proxy, as in curl. Local hosts never use a proxy.',
  ],
  ['NODE_EXTRA_CA_CERTS', "PEM certificates of your network's own authority, which Node reads."],
  ['NO_COLOR', 'Any value turns colors off.'],
  [
    'FORCE_COLOR',
    '`1` turns colors on, even without a terminal; `0` turns them off. `--color` and `--no-color` take precedence.',
  ],
  ['TERM', '`dumb` turns colors off.'],
];

/** `docs/reference/environment.md`. */
export function renderEnvironment(): string {
  return `# Environment

${renderTable(
  ['variable', 'meaning'],
  VARIABLES.map(([name, meaning]) => [`\`${name}\``, meaning]),
)}
A pipeline file can use any other variable as \`\${NAME}\`. If a variable is not set, the command fails.

Every command reads \`.env\` in the current folder. Variables that are already set take precedence.
`;
}
