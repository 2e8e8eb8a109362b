// `npm run build:sqlite`: makes the database of the training server work with this Node.
import { prepareSqlite } from './lib/sqlite.mjs';
import { checkNode, fail, installDependencies, say } from './lib/steps.mjs';

checkNode();
await installDependencies();
const missing = await prepareSqlite();
if (missing) fail(`The training server cannot run here: ${missing}.`);
say('better-sqlite3 works with this Node.');
