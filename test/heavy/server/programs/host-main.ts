// A server for tests with a second host: DATA HOST PORT, with a certificate of its own. Says address and fingerprint.
import { checkConfig } from '../../../../server/src/config.ts';
import { serve } from '../../../../server/src/serve.ts';

const [data = '', host = '', port = '0'] = process.argv.slice(2);
const server = await serve({
  config: checkConfig(
    {
      listen: { host, port: Number(port) },
      tls: { selfSigned: true },
      timing: { heartbeatMs: 500, silenceMs: 4_000 },
      log: { level: 'error' },
    },
    'test',
  ),
  data,
  version: '0.0.0',
  write: (line) => process.stderr.write(line),
});
process.stdout.write(`${server.url} ${server.fingerprint}\n`);
process.on('SIGTERM', () => void server.close());
