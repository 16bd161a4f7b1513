import type { View as VegaView } from 'vega';
import type { TopLevelSpec } from 'vega-lite';
import { Html, html, stripControls } from '../../formats/html.js';

/** CSS variables of the page, so that one drawing suits light mode, dark mode and print. */
export const COLOR = {
  ink: 'var(--ink)',
  soft: 'var(--soft)',
  line: 'var(--line)',
  accent: 'var(--accent)',
  accentSoft: 'var(--accent-soft)',
  faint: 'var(--faint)',
} as const;

/** The width of a chart, which fits a phone screen. On a larger screen, several charts are side by side. */
const CHART_WIDTH = 372;

type Padding = { left: number; right: number; top: number; bottom: number };
type Cell = string | number | boolean | null;

export interface Chart {
  /** Alternative text for screen readers. */
  label: string;
  height: number;
  padding: Padding;
  /** The plotted rows. They are kept apart from the layers, so that data never becomes part of a Vega specification. */
  values: Record<string, Cell>[];
  /** Vega-Lite layers, which refer to `values` only by field names from this code. */
  layer: NonNullable<Extract<TopLevelSpec, { layer: unknown }>['layer']>;
}

/** Shared settings for time axes and count axes. */
export const DAYS = {
  type: 'temporal',
  scale: { type: 'utc', nice: false },
  axis: { grid: false, format: '%-d %b', tickCount: 4, title: null },
} as const;
export const COUNTS = {
  type: 'quantitative',
  scale: { zero: true },
  axis: { tickCount: 4, title: null, format: ',d', tickMinStep: 1 },
} as const;

/** Draws a chart as SVG that needs no script, font or image. Vega's warnings are passed to `warn`. */
export async function drawChart(chart: Chart, warn: (text: string) => void = () => {}): Promise<Html> {
  const { label, height, padding, values, layer } = chart;
  const [vega, { compile }] = await Promise.all([import('vega'), import('vega-lite')]);
  const spec: TopLevelSpec = {
    width: CHART_WIDTH - padding.left - padding.right,
    height: height - padding.top - padding.bottom,
    padding,
    autosize: { type: 'none' },
    background: 'transparent',
    data: { values: values.map(cleanCells) },
    layer,
    config: CONFIG,
  };
  const logger = createLogger(warn);
  const view = new vega.View(vega.parse(compile(spec, { logger }).spec), {
    renderer: 'none',
    loader: NO_LOADER,
    logger,
  });
  try {
    return wrapDrawing(await view.toSVG(), label, height);
  } finally {
    view.finalize();
  }
}

const CONFIG: NonNullable<TopLevelSpec['config']> = {
  aria: false,
  font: 'inherit',
  view: { stroke: null },
  axis: {
    labelColor: COLOR.soft,
    titleColor: COLOR.soft,
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 'normal',
    domain: false,
    ticks: false,
    gridColor: COLOR.line,
    labelPadding: 6,
  },
};

function cleanCells(row: Record<string, Cell>): Record<string, Cell> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? stripControls(value) : value]),
  );
}

/** Wraps a drawing in our own `svg` element. @throws TypeError if the drawing is not a single `svg` element */
function wrapDrawing(svg: string, label: string, height: number): Html {
  const inner = /^<svg [^>]*>(.*)<\/svg>$/su.exec(svg)?.[1];
  if (inner === undefined) throw new TypeError('the drawing is not one svg element');
  // Removes the ARIA roles of the chart's parts, because a screen reader treats the chart as one image.
  const plain = inner.replace(/<g [^>]*>/gu, (tag) => tag.replace(/ (?:role|aria-[a-z]+)="[^"]*"/gu, ''));
  return html`<svg role="img" aria-label="${label}" viewBox="0 0 ${CHART_WIDTH} ${height}">${new Html(plain)}</svg>`;
}

const refuse = async (): Promise<never> => {
  throw new TypeError('a chart loads nothing');
};
const NO_LOADER = { load: refuse, sanitize: refuse, http: refuse, file: refuse } as unknown as ReturnType<
  typeof import('vega')['loader']
>;

type Logger = ReturnType<VegaView['logger']>;

function createLogger(warn: (text: string) => void): Logger {
  const logger = {
    level: () => logger,
    error: (...facts: unknown[]): never => {
      throw new TypeError(`chart: ${facts.map(String).join(' ')}`);
    },
    warn: (...facts: unknown[]) => {
      warn(facts.map(String).join(' '));
      return logger;
    },
    info: () => logger,
    debug: () => logger,
  };
  return logger as unknown as Logger;
}
