import { listBlocks } from './fenced-blocks.js';

const CHARACTER = 7.8;
const LINE = 18;
const MARGIN = 20;
const BAR = 34;

const COLORS: [pattern: RegExp, color: string][] = [
  [/^\$ .*/, '#7ee787'],
  [/[─└┤]+/g, '#6e7681'],
  [/░+/g, '#1f6feb'],
  [/━+/g, '#f2cc60'],
];

/** Renders `docs/images/spread.svg`, which shows the output for one product in docs/tutorial.md as a terminal. */
export function renderPicture(tutorial: string): string {
  const blocks = listBlocks(tutorial);
  const at = blocks.findIndex(({ body }) => body.startsWith('pricelake spread --product'));
  const [command, output] = [blocks[at]?.body, blocks[at + 1]?.body];
  if (command === undefined || output === undefined) throw new Error('docs/tutorial.md: no product is shown');
  return drawTerminal([`$ ${command.trim()}`, '', ...output.trimEnd().split('\n')]);
}

function drawTerminal(lines: string[]): string {
  const columns = Math.max(...lines.map((line) => [...line].length));
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
  const height = BAR + lines.length * LINE + MARGIN;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, nth) => `<circle cx="${MARGIN + nth * 20}" cy="18" r="6" fill="${color}"/>`,
  );
  const rows = lines.flatMap((line, nth) => drawLine(line, BAR + (nth + 1) * LINE));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(lines[0] ?? '')}">
<style>text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #e6edf3; white-space: pre; }</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
${dots.join('\n')}
${rows.join('\n')}
</svg>
`;
}

/** Draws one text element per color. Each is as wide as its characters, so that columns align in any font. */
function drawLine(line: string, y: number): string[] {
  const spans = COLORS.reduce<[text: string, color?: string][]>(
    (parts, [pattern, color]) =>
      parts.flatMap((part) => (part[1] === undefined ? splitBy(part[0], pattern, color) : [part])),
    [[line]],
  );
  let column = 0;
  return spans.flatMap(([text, color]) => {
    const x = MARGIN + column * CHARACTER;
    const length = [...text].length;
    column += length;
    if (text.trim() === '') return [];
    const fill = color === undefined ? '' : ` style="fill: ${color}"`;
    return `<text x="${x.toFixed(1)}" y="${y}" textLength="${(length * CHARACTER).toFixed(1)}"${fill}>${escapeXml(text)}</text>`;
  });
}

function splitBy(text: string, pattern: RegExp, color: string): [text: string, color?: string][] {
  const parts: [text: string, color?: string][] = [];
  let end = 0;
  for (const { 0: match, index } of text.matchAll(new RegExp(pattern, 'g'))) {
    parts.push([text.slice(end, index)], [match, color]);
    end = index + match.length;
  }
  return [...parts, [text.slice(end)]].filter(([part]) => part !== '') as [text: string, color?: string][];
}

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
