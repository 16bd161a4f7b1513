export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template. Text is escaped. null and undefined become empty strings, and lists are joined. */
export type Content = string | number | bigint | Html | null | undefined | readonly Content[];

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Builds HTML from a template. Escapes text, and removes its control characters. Inserts Html values unchanged. */
export function html(parts: TemplateStringsArray, ...values: Content[]): Html {
  const filled = parts.map((part, k) => part + writeContent(values[k]));
  return new Html(filled.join(''));
}

// Matches control characters except tab and line feed, and characters that reorder text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export function stripControls(text: string): string {
  return text.replace(UNSAFE, '');
}

function writeContent(content: Content): string {
  if (content === null || content === undefined) return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(writeContent).join('');
  return stripControls(String(content)).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
