// A server for the benchmark: DATA. Says its address, and ends with its standard input.
import { checkConfig } from '../../server/src/config.ts';
import { serve } from '../../server/src/serve.ts';

const [data = ''] = process.argv.slice(2);
const server = await serve({
  config: checkConfig({ listen: { port: 0 }, log: { level: 'error' } }, 'bench'),
  data,
  version: '0.0.0',
  write: (line) => process.stderr.write(line),
});
process.stdout.write(`${server.url}\n`);
process.stdin.resume().on('end', () => void server.close().then(() => process.exit(0)));
