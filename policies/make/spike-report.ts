import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { compare } from '../../src/core/evaluation/compare.ts';
import { readResults } from '../../src/core/evaluation/results-file.ts';
import { estimateText } from './estimate-text.ts';
import { resultsFile } from './evaluate.ts';
import { type ChartSeries, lineChart } from './line-chart.ts';
import { required, say } from './process.ts';
import { slugOf } from './spike-parts.ts';

const estimate = z.looseObject({
  k: z.int(),
  value: z.number(),
  low: z.number(),
  high: z.number(),
});
const figures = z.array(
  z.looseObject({
    part: z.string(),
    temperature: z.number(),
    summary: z.looseObject({ tasks: z.int(), passAt: z.array(estimate) }),
  }),
);
const reportSchema = z.looseObject({
  arm: z.string(),
  seed: z.string(),
  tasks: z.string(),
  group: z.string(),
  rate: z.string(),
  practice: z.string(),
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
  for (const part of partsOf(reports)) {
    await writeFile(
      join(IMAGES, `learning-${slugOf(part)}.svg`),
      lineChart({
        title: `Solved by one greedy attempt: ${part}`,
        xLabel: 'minutes of training',
        yLabel: '% of tasks',
        series: reports.map((report) => solvedTasks(report, part)),
      }),
    );
  }
  await writeFile(
    join(IMAGES, 'learning-rollouts.svg'),
    lineChart({
      title: 'Attempts solved in training, at temperature 1',
      xLabel: 'minutes of training',
      yLabel: '% of attempts',
      series: reports.filter(({ arm }) => arm !== 'supervised').map(rollouts),
    }),
  );
  say(tables(reports));
  for (const part of partsOf(reports)) say(`\n${await differences(work, reports, part)}`);
}

/** After minus before, task by task, in points with the bootstrap's interval for 95 %. */
async function differences(
  work: string,
  reports: readonly Report[],
  part: string,
): Promise<string> {
  const rows: string[][] = [];
  for (const { arm, seed } of reports) {
    const cells = [arm, seed];
    for (const temperature of [0, 1]) {
      const name = (when: string): string => `${when}-${slugOf(part)}`;
      const file = resultsFile(work, name('spike-before'), 'held-out', temperature);
      const folder = join(work, `spike-${arm}-${seed}`);
      const later = resultsFile(folder, name('after'), 'held-out', temperature);
      const { rows: found } = compare(await readResults(file), await readResults(later));
      const all = found.find(({ tries }) => tries === undefined);
      const [value, low, high] = [all?.value, all?.low, all?.high].map((one) =>
        (100 * (one ?? Number.NaN)).toFixed(1),
      );
      cells.push(`${value} (${low} to ${high})`);
    }
    rows.push(cells);
  }
  return `${part}: differences\n\n${markdown(['arm', 'seed', 'greedy', 'temperature 1'], rows)}`;
}

function partsOf(reports: readonly Report[]): readonly string[] {
  return [...new Set(reports.flatMap(({ before }) => before.map(({ part }) => part)))];
}

function solvedTasks(report: Report, part: string): ChartSeries {
  const minutes = minutesAt(report);
  const measured = [
    { step: 0, figures: report.before },
    ...report.curve,
    { step: report.steps.length, figures: report.after },
  ];
  const points = measured.flatMap((point) => {
    const found = figureOf(point.figures, part, 0)?.passAt[0];
    if (found === undefined) return [];
    const { value, low, high } = found;
    return [{ x: minutes[point.step] ?? 0, y: 100 * value, low: 100 * low, high: 100 * high }];
  });
  return { name: report.arm, look: ARMS.indexOf(report.arm), points };
}

function figureOf(
  found: Report['before'],
  part: string,
  temperature: number,
): Report['before'][number]['summary'] | undefined {
  return found.find((each) => each.part === part && each.temperature === temperature)?.summary;
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

/** One table of the runs, then one of each part that was measured. */
function tables(reports: readonly Report[]): string {
  const runs = reports.map((report) => {
    const { arm, seed, rate, practice, tasks, group, steps } = report;
    const minutes = minutesAt(report).at(-1) ?? 0;
    const mean = (key: 'rolloutSeconds' | 'learnSeconds' | 'swapSeconds'): string =>
      (steps.reduce((sum, step) => sum + step[key], 0) / steps.length).toFixed(1);
    const seconds = `${mean('rolloutSeconds')} + ${mean('learnSeconds')} + ${mean('swapSeconds')}`;
    return [
      arm,
      seed,
      rate,
      practice,
      `${tasks} × ${group}`,
      steps.length,
      minutes.toFixed(1),
      seconds,
    ];
  });
  const named = ['arm', 'seed', 'rate', 'practice', 'tasks × group', 'steps', 'minutes'];
  const parts = partsOf(reports).map((part) => {
    const rows = reports.map(({ arm, seed, before, after }) => [
      arm,
      seed,
      ...MEASURED.flatMap(([temperature, k]) => [
        percent(figureOf(before, part, temperature), k),
        percent(figureOf(after, part, temperature), k),
      ]),
    ]);
    const heads = MEASURED.flatMap(([temperature, k]) => [
      `pass@${k} at ${temperature} before`,
      'after',
    ]);
    return `${part}\n\n${markdown(['arm', 'seed', ...heads], rows)}`;
  });
  const seconds = 's a step: rollouts + learner + swap';
  return [markdown([...named, seconds], runs), ...parts].join('\n\n');
}

/** Temperature and k of what is told. */
const MEASURED = [
  [0, 1],
  [1, 1],
  [1, 8],
] as const;

function markdown(
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function percent(summary: Report['before'][number]['summary'] | undefined, k: number): string {
  const value = summary?.passAt.find((each) => each.k === k);
  return value === undefined ? '-' : estimateText(value);
}

await main();
