import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/io/package-path.js';

/** `docs/reference/pipeline.md`. */
export function renderPipeline(): string {
  const shipped = readFileSync(packagePath('pipelines/prices.yaml'), 'utf8');
  return `# Pipeline file

\`npm run docs\` generates this page from \`pipelines/prices.yaml\`, which \`pricelake init\` copies.

Only \`source.baseUrl\`, \`source.apiKey\` and \`lake.path\` are required. An unknown key is an error that names the nearest
known one. Editors complete and check the file by \`schemas/pipeline.schema.json\` of the package:
\`# yaml-language-server: $schema=…/pipeline.schema.json\`.

\`\`\`yaml
${shipped}\`\`\`
`;
}
