import { loadChecks } from '../../src/check/load.js';

/** `docs/reference/checks.md`. */
export async function renderChecks(): Promise<string> {
  const sections = (await loadChecks()).map(({ name, severity, description, next, parameters }) => {
    const listed = parameters.map(
      (one) => `\n- \`${one.name}\` ${one.type}, default \`${one.default}\`: ${one.meaning}`,
    );
    return `## ${name}\n\n**${severity}** · ${description}\n\n→ ${next}\n${listed.length === 0 ? '' : `${listed.join('')}\n`}`;
  });
  return `# Checks

If a gate fails, the run publishes nothing. An error or a warning is recorded in \`check_results\`, logged, and shown by \`status\` and the report. The line with → says what to do if a check fails. Set a check's parameters and severity under \`checks:\` in the pipeline file. You can also [write your own](../engineer/checks.md).

${sections.join('\n')}`;
}
