// A server for tests that kill it: DATA PORT. Says its address and its process on standard output.
import { checkConfig } from '../../../../server/src/config.ts';
import { serve } from '../../../../server/src/serve.ts';

const [data = '', port = '0'] = process.argv.slice(2);
const server = await serve({
  config: checkConfig({ listen: { port: Number(port) }, log: { level: 'error' } }, 'test'),
  data,
  version: '0.0.0',
  write: (line) => process.stderr.write(line),
});
process.stdout.write(`${server.url} ${process.pid}\n`);
process.on('SIGTERM', () => void server.close());
