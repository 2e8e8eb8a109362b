/** A line chart as SVG text that follows the reader's light or dark theme. Pure. */

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
  /** An interval around y. */
  readonly low?: number;
  readonly high?: number;
}

export interface ChartSeries {
  readonly name: string;
  /** Series of one look share colour, dashes and one entry of the legend. */
  readonly look: number;
  readonly points: readonly ChartPoint[];
}

export interface Chart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly ChartSeries[];
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 64;
const RIGHT = 24;
const TOP = 48;
const BOTTOM = 88;

/** Okabe and Ito's colours, told apart by most people; dashes for the rest. */
const LOOKS = [
  { color: '#0072b2', dash: '' },
  { color: '#d55e00', dash: '7 4' },
  { color: '#009e73', dash: '2 4' },
  { color: '#cc79a7', dash: '10 3 2 3' },
] as const;

export function lineChart({ title, xLabel, yLabel, series }: Chart): string {
  const points = series.flatMap((each) => each.points);
  const xTicks = ticks(Math.max(...points.map(({ x }) => x)));
  const yTicks = ticks(Math.max(...points.map(({ y, high }) => high ?? y)));
  const xMost = xTicks.at(-1) ?? 1;
  const yMost = yTicks.at(-1) ?? 1;
  const at = (x: number): number => round(LEFT + (x / xMost) * (WIDTH - LEFT - RIGHT));
  const up = (y: number): number => round(HEIGHT - BOTTOM - (y / yMost) * (HEIGHT - TOP - BOTTOM));
  const grid = yTicks.map(
    (y) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${up(y)}" y2="${up(y)}"/>` +
      `<text x="${LEFT - 8}" y="${up(y) + 4}" text-anchor="end">${y}</text>`,
  );
  const below = xTicks.map(
    (x) => `<text x="${at(x)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${x}</text>`,
  );
  const lines = series.map((each) => {
    const { color, dash } = lookOf(each.look);
    const path = each.points.map(({ x, y }) => `${at(x)},${up(y)}`).join(' ');
    const bars = each.points.map(({ x, low, high }) =>
      low === undefined || high === undefined
        ? ''
        : `<line x1="${at(x)}" x2="${at(x)}" y1="${up(low)}" y2="${up(high)}" stroke="${color}" stroke-opacity="0.35"/>`,
    );
    const dots = each.points.map(
      ({ x, y }) => `<circle cx="${at(x)}" cy="${up(y)}" r="3" fill="${color}"/>`,
    );
    return (
      `<g><title>${escaped(each.name)}</title>${bars.join('')}` +
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/>${dots.join('')}</g>`
    );
  });
  const named = new Map(series.map((each) => [each.look, each.name]));
  const legend = [...named].map(([look, name], index) => {
    const { color, dash } = lookOf(look);
    const x = LEFT + index * 200;
    const y = HEIGHT - 18;
    return (
      `<line x1="${x}" x2="${x + 32}" y1="${y - 4}" y2="${y - 4}" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/>` +
      `<text x="${x + 40}" y="${y}">${escaped(name)}</text>`
    );
  });
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    '<style>svg{background:#fff}text{font:13px system-ui,sans-serif;fill:#222}.title{font-size:16px;font-weight:600}.grid{stroke:#ccc}',
    '@media(prefers-color-scheme:dark){svg{background:#1e1e1e}text{fill:#ddd}.grid{stroke:#444}}</style>',
    `<text class="title" x="${LEFT}" y="26">${escaped(title)}</text>`,
    ...grid,
    ...below,
    `<text x="${middle}" y="${HEIGHT - BOTTOM + 42}" text-anchor="middle">${escaped(xLabel)}</text>`,
    `<text transform="translate(18 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)" text-anchor="middle">${escaped(yLabel)}</text>`,
    ...lines,
    ...legend,
    '</svg>',
    '',
  ].join('\n');
}

/** From 0 up to at least `most`, in steps of 1, 2 or 5 times a power of ten, five or so of them. */
export function ticks(most: number): readonly number[] {
  if (!(most > 0) || !Number.isFinite(most)) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => most / each <= 6) ?? most;
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

function lookOf(look: number): (typeof LOOKS)[number] {
  return LOOKS[look % LOOKS.length] ?? LOOKS[0];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
