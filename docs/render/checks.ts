import { loadChecks } from '../../src/check/load.js';
import { renderTable } from '../../src/deliver/markdown.js';

/** `docs/reference/checks.md`. */
export async function renderChecks(): Promise<string> {
  const sections = (await loadChecks()).map(({ name, severity, description, next, parameters }) => {
    const rows = parameters.map((one) => [`\`${one.name}\``, one.type, `\`${one.default}\``, one.meaning]);
    const table = rows.length === 0 ? '' : `\n${renderTable(['parameter', 'type', 'default', 'meaning'], rows)}`;
    return `## ${name}\n\n**${severity}** · ${description}\n\nIf it fails: ${next}\n${table}`;
  });
  return `# Checks

\`npm run docs\` generates this page from the headers of \`pipelines/checks/*.sql\`.

A gate that fails holds the batch: nothing is published. An error or a warning is recorded in \`check_results\`, logged, and
shown by \`status\` and the report. Set severity and parameters under \`checks:\` in the pipeline file. To add your own, see
[Write your own checks](../engineer/checks.md).

${sections.join('\n')}`;
}
