/** A pipeline file for the sandbox. The base URL and the key come from environment variables. */
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

/** Returns the commands that the sandbox suggests to run in another terminal. */
export function describeSync(baseUrl: string, key: string): string {
  return `export PRICELAKE_BASE_URL=${baseUrl}
export PRICELAKE_API_KEY=${key}
pricelake sync prices.yaml
pricelake sandbox advance --hours 1
`;
}
