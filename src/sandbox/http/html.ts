/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Template of HTML: every value is escaped unless it is Html itself; lists are joined. */
export function html(parts: TemplateStringsArray, ...values: (string | number | Html | Html[])[]): Html {
  const filled = parts.map((part, k) => (k < values.length ? part + escapeValue(values[k] ?? '') : part));
  return new Html(filled.join(''));
}

function escapeValue(value: string | number | Html | Html[]): string {
  if (Array.isArray(value)) return value.map(({ text }) => text).join('');
  if (value instanceof Html) return value.text;
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
