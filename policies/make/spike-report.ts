import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type ChartSeries, lineChart } from './line-chart.ts';
import { required, say } from './process.ts';

const estimate = z.looseObject({
  k: z.int(),
  value: z.number(),
  low: z.number(),
  high: z.number(),
});
const figures = z.array(
  z.looseObject({ temperature: z.number(), summary: z.looseObject({ passAt: z.array(estimate) }) }),
);
const reportSchema = z.looseObject({
  arm: z.string(),
  seed: z.string(),
  tasks: z.string(),
  group: z.string(),
  rate: z.string(),
  before: figures,
  after: figures,
  curve: z.array(z.object({ step: z.int(), figures })),
  steps: z.array(
    z.looseObject({
      step: z.int(),
      solved: z.number(),
      attempts: z.number(),
      rolloutSeconds: z.number(),
      learnSeconds: z.number(),
      swapSeconds: z.number(),
    }),
  ),
});
type Report = z.output<typeof reportSchema>;

const IMAGES = 'docs/images';
const ARMS = ['grpo', 'random', 'supervised'];

/** `npm run policy:spike -- report`: pictures and tables of docs/learning.md from the runs that ended. */
async function main(): Promise<void> {
  const work = required('PRIME_AGENT_WORK');
  const reports: Report[] = [];
  for (const name of (await readdir(work)).sort()) {
    if (!name.startsWith('spike-')) continue;
    const text = await readFile(join(work, name, 'report.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) reports.push(reportSchema.parse(JSON.parse(text)));
  }
  if (reports.length === 0)
    throw new Error(`${work} holds no finished run of npm run policy:spike`);
  await mkdir(IMAGES, { recursive: true });
  await writeFile(
    join(IMAGES, 'learning-held-out.svg'),
    lineChart({
      title: 'Held-out tasks solved by one greedy attempt',
      xLabel: 'minutes of training',
      yLabel: '% of tasks',
      series: reports.map(heldOut),
    }),
  );
  await writeFile(
    join(IMAGES, 'learning-rollouts.svg'),
    lineChart({
      title: 'Attempts solved in training, at temperature 1',
      xLabel: 'minutes of training',
      yLabel: '% of attempts',
      series: reports.filter(({ arm }) => arm !== 'supervised').map(rollouts),
    }),
  );
  say(table(reports));
}

function heldOut(report: Report): ChartSeries {
  const minutes = minutesAt(report);
  const points = [{ step: 0, figures: report.before }, ...report.curve].flatMap((point) => {
    const found = point.figures.find(({ temperature }) => temperature === 0)?.summary.passAt[0];
    if (found === undefined) return [];
    const { value, low, high } = found;
    return [{ x: minutes[point.step] ?? 0, y: 100 * value, low: 100 * low, high: 100 * high }];
  });
  return { name: report.arm, look: ARMS.indexOf(report.arm), points };
}

function rollouts(report: Report): ChartSeries {
  const minutes = minutesAt(report);
  const points = report.steps.map(({ step, solved, attempts }) => ({
    x: minutes[step - 1] ?? 0,
    y: attempts > 0 ? (100 * solved) / attempts : 0,
  }));
  return { name: report.arm, look: ARMS.indexOf(report.arm), points };
}

/** After so many steps; measuring is not counted. */
function minutesAt({ steps }: Report): readonly number[] {
  const minutes = [0];
  for (const { rolloutSeconds, learnSeconds, swapSeconds } of steps) {
    minutes.push((minutes.at(-1) ?? 0) + (rolloutSeconds + learnSeconds + swapSeconds) / 60);
  }
  return minutes;
}

function table(reports: readonly Report[]): string {
  const rows = reports.map((report) => {
    const { arm, seed, rate, tasks, group, steps, before, after } = report;
    const minutes = minutesAt(report).at(-1) ?? 0;
    const mean = (key: 'rolloutSeconds' | 'learnSeconds' | 'swapSeconds'): string =>
      (steps.reduce((sum, step) => sum + step[key], 0) / steps.length).toFixed(1);
    const change = (temperature: number, k: number): string =>
      `${percent(before, temperature, k)} → ${percent(after, temperature, k)}`;
    const cells = [
      arm,
      seed,
      rate,
      `${tasks} × ${group}`,
      `${steps.length} (${minutes.toFixed(1)} min)`,
      change(0, 1),
      change(1, 1),
      change(1, 8),
      `${mean('rolloutSeconds')} + ${mean('learnSeconds')} + ${mean('swapSeconds')}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| arm | seed | rate | tasks × group | steps | greedy pass@1 | pass@1 | pass@8 | s a step: rollouts + learner + swap |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function percent(found: Report['before'], temperature: number, k: number): string {
  const { passAt } = found.find((each) => each.temperature === temperature)?.summary ?? {};
  const value = passAt?.find((each) => each.k === k);
  if (value === undefined) return '-';
  const [share, low, high] = [value.value, value.low, value.high].map((each) => 100 * each);
  return `${share?.toFixed(1)} % (${low?.toFixed(0)} to ${high?.toFixed(0)})`;
}

await main();
