import type { Template } from '../template.ts';
import { checkTemplates } from './checks.ts';
import { dateTemplates } from './dates.ts';
import { gridTemplates } from './grids.ts';
import { listTemplates } from './lists.ts';
import { moneyTemplates } from './money.ts';
import { numberTemplates } from './numbers.ts';
import { parsingTemplates } from './parsing.ts';
import { stateTemplates } from './states.ts';
import { structureTemplates } from './structures.ts';
import { textTemplates } from './text.ts';

export const allTemplates: readonly Template[] = [
  ...numberTemplates,
  ...moneyTemplates,
  ...textTemplates,
  ...listTemplates,
  ...structureTemplates,
  ...stateTemplates,
  ...dateTemplates,
  ...parsingTemplates,
  ...checkTemplates,
  ...gridTemplates,
];
