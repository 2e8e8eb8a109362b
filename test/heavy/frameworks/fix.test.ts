import {
  describeFixWith,
  describeMonorepo,
  FIXED_WITH,
} from '../../integration/cli/describe-fix-with.ts';

describeFixWith(FIXED_WITH);
describeMonorepo();
