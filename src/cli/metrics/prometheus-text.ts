/** A metric in Prometheus' words: one line a sample. */
export interface Metric {
  name: string;
  help: string;
  samples: { labels?: Record<string, string>; value: number | bigint | boolean }[];
}

/** The text format of Prometheus, version 0.0.4: gauges alone, since a run starts from nothing. */
export function writePrometheusText(metrics: readonly Metric[], common: Record<string, string>): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }) => {
      const lines = samples.map(
        ({ labels, value }) => `${name}${writeLabels({ ...common, ...labels })} ${writeValue(value)}\n`,
      );
      return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} gauge\n${lines.join('')}`;
    })
    .join('');
}

function writeLabels(labels: Record<string, string>): string {
  const texts = Object.entries(labels).map(([name, text]) => `${name}="${escapeLabel(text)}"`);
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function writeValue(value: number | bigint | boolean): string {
  return typeof value === 'boolean' ? String(Number(value)) : String(value);
}
