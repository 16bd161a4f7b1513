/** A pipeline file for any sandbox, because address and key come from the environment. */
export const PIPELINE_FILE = `name: prices
source:
  baseUrl: \${PRICELAKE_BASE_URL}
  apiKey: \${PRICELAKE_API_KEY}
lake:
  path: ./lake
`;

export function describeCall(baseUrl: string, key: string): string {
  return `curl -H 'Authorization: Bearer ${key}' '${baseUrl}/api/v1/items?size=1'`;
}

/** The commands that the sandbox prints for another terminal. */
export function describeSync(baseUrl: string, key: string): string {
  return `export PRICELAKE_BASE_URL=${baseUrl}
export PRICELAKE_API_KEY=${key}
pricelake sync prices.yaml
pricelake sandbox advance --hours 1
`;
}
