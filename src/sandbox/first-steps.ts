/** A pipeline file that fits any sandbox, with the address and the key from the environment. */
export const PIPELINE_FILE = `name: prices
source:
  baseUrl: \${PRICELAKE_BASE_URL}
  apiKey: \${PRICELAKE_API_KEY}
lake:
  path: ./lake
`;

/** A call to try. */
export function describeCall(baseUrl: string, key: string): string {
  return `curl -H 'Authorization: Bearer ${key}' '${baseUrl}/api/v1/items?size=1'`;
}

/** Commands that copy the sandbox into a lake, in a terminal of their own. */
export function describeSync(baseUrl: string, key: string): string {
  return `export PRICELAKE_BASE_URL=${baseUrl}
export PRICELAKE_API_KEY=${key}
pricelake sync prices.yaml
pricelake sandbox advance --hours 1
`;
}
