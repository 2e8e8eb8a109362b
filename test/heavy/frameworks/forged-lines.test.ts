import {
  describeForgedLines,
  FORGED_WITH,
} from '../../integration/frameworks/describe-forged-lines.ts';

describeForgedLines(FORGED_WITH);
