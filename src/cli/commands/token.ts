import type { Role } from '../../core/protocol/values.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { plural } from '../render/style.ts';
import { placeOf } from './serve.ts';
import { loadServer, type PlaceOptions } from './server-bundle.ts';

type TokenOptions = PlaceOptions & { readonly json: boolean };

/** The token alone on standard output, so that it can be piped; it is in no list later. */
export async function tokenCreateCommand(
  name: string,
  options: TokenOptions & { readonly role: Role },
  context: CliContext,
): Promise<ExitCode> {
  const { createToken } = await loadServer(context);
  const made = createToken(placeOf(options, context), name, options.role);
  if (options.json) context.stdout.write(`${JSON.stringify(made)}\n`);
  else {
    context.stderr.write(`Token ${made.id} for ${made.name} (${made.role}), shown only now:\n`);
    context.stdout.write(`${made.token}\n`);
  }
  return EXIT.ok;
}

export async function tokenListCommand(
  options: TokenOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { listTokens } = await loadServer(context);
  const tokens = listTokens(placeOf(options, context));
  if (options.json) context.stdout.write(`${JSON.stringify({ tokens }, null, 2)}\n`);
  else if (tokens.length === 0) context.stdout.write('There are no tokens yet.\n');
  else {
    for (const { id, name, role, createdAt, revokedAt, brokenClaims } of tokens) {
      const revoked = revokedAt === null ? '' : `  revoked ${revokedAt.slice(0, 10)}`;
      const flag =
        brokenClaims === 0
          ? ''
          : `  ${plural(brokenClaims, 'reward')} claimed that ${brokenClaims === 1 ? 'does' : 'do'} not hold`;
      context.stdout.write(
        `${id}  ${role.padEnd(11)}  ${createdAt.slice(0, 10)}  ${name}${revoked}${flag}\n`,
      );
    }
  }
  return EXIT.ok;
}

export async function tokenRevokeCommand(
  id: string,
  options: TokenOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { revokeToken } = await loadServer(context);
  const revoked = revokeToken(placeOf(options, context), id);
  if (!revoked) {
    context.stderr.write(
      `prime-agent: no token ${id} is good here; \`prime-agent token list\` names them\n`,
    );
    return EXIT.environment;
  }
  if (options.json) context.stdout.write(`${JSON.stringify({ id, revoked })}\n`);
  else context.stdout.write(`Token ${id} is worthless now.\n`);
  return EXIT.ok;
}
