import { describeFixWith } from './describe-fix-with.ts';

// The other frameworks, and a repository with several, are in test/heavy.
describeFixWith(['vitest', 'unittest']);
