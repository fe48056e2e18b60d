// `pharos token`: API tokens of teams, created, listed and revoked by the operator.
import { parseArgs } from 'node:util'
import { scopes as knownScopes } from '@pharos/contract/scope'
import { describeHiddenCharacter, findHiddenCharacter } from '@pharos/contract/text'
import { unusedDaysMax } from '@pharos/contract/token'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { PrefixError } from '../net/prefix-error.ts'
import {
  createTeamToken,
  listTeamTokens,
  revokeTeamToken,
  type OperatorTokenRow,
  type TokenRequest,
} from '../session/operator-token.ts'
import { parseApiToken } from '../session/api-token-format.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { parseOneArgument, parseFuture, parseList, parseInteger } from './parse-arguments.ts'

export const token: Command = {
  name: 'token',
  usage: `create --team <slug> --name <name> --scopes <scope,...> [--expires <time|span>] [--max-unused-days <n>]
                    [--networks <cidr,...>] [--admin] [--quiet]
             list [--team <slug>] [--json]
             revoke <id or token>`,
  summary: `create, list and revoke API tokens of teams

  --scopes    what the token may do: ${knownScopes.join(', ')}
  --expires   a time such as 2026-12-31, or a span such as 90d or 12h; without it the token does not expire
  --max-unused-days  it ends when it was not used for so many days
  --networks  addresses and networks it works from; without it from everywhere
  --admin     it may do what admins of the team may
  --quiet     print the token and nothing else

  A new token is printed once: only its MAC is stored, under the key ring of this configuration (PHAROS_SECRET).`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'create') return create(context, args)
    if (verb === 'list') return list(context, args)
    if (verb === 'revoke') return revoke(context, args)
    throw new UsageError(
      verb === undefined ? 'Add create, list or revoke.' : `pharos token has no command ${verb}.`,
    )
  },
}

async function create(context: CommandContext, args: readonly string[]): Promise<void> {
  const { request, quiet } = parseRequest(args)
  await withSchema(context, async ({ owner }, { secret }) => {
    const { id, text } = await createTeamToken(owner, secret, request)
    context.out(`${text}\n`)
    if (!quiet)
      context.out(
        `\n${described(id, request)}\nIt is not shown again. Send it as: Authorization: Token <token>\n`,
      )
  })
}

function parseRequest(args: readonly string[]): { request: TokenRequest; quiet: boolean } {
  const text = { type: 'string' } as const
  const list = { type: 'string', multiple: true } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      team: text,
      name: text,
      scopes: list,
      expires: text,
      'max-unused-days': text,
      networks: list,
      admin: flag,
      quiet: flag,
    },
  })
  const { team, name, scopes, expires, networks, admin, quiet } = values
  const maxUnused = values['max-unused-days']
  if (team === undefined) throw new UsageError('Whose token? --team <slug>')
  if (name === undefined || name.trim() === '' || name.length > 200) {
    throw new UsageError('Name the purpose of the token: --name <name>, 1 to 200 characters')
  }
  const hidden = findHiddenCharacter('line', name)
  if (hidden) throw new UsageError(`--name ${describeHiddenCharacter(hidden)}.`)
  if (scopes === undefined) throw new UsageError(`What may it do? --scopes ${knownScopes.join(',')}`)
  const request = {
    team,
    name: name.trim(),
    scopes: parseList(scopes),
    networks: parseNetworks(networks),
    isAdmin: admin,
    expires: expires === undefined ? null : parseFuture('--expires', expires, new Date()),
    maxUnusedDays:
      maxUnused === undefined ? null : parseInteger('--max-unused-days', maxUnused, 1, unusedDaysMax),
  }
  return { request, quiet }
}

function parseNetworks(values: readonly string[] | undefined): Prefix[] {
  // An empty list of networks means "from everywhere": an empty variable in a script must not.
  if (values !== undefined && parseList(values).length === 0)
    throw new UsageError('--networks: name a network.')
  return parseList(values).map((word) => {
    try {
      return parsePrefixOrAddress(word)
    } catch (error) {
      if (!(error instanceof PrefixError)) throw error
      const meant = error.canonical === undefined ? '' : `; write ${error.canonical}`
      throw new UsageError(`--networks: ${word}: ${error.message}${meant}`)
    }
  })
}

function described(id: string, { team, scopes, networks, expires, isAdmin }: TokenRequest): string {
  const from = networks.length > 0 ? ` from ${networks.join(', ')}` : ''
  const end = `, expires ${expires?.toISOString() ?? 'never'}`
  return `Token ${id} of team ${team}: ${scopes.join(', ')}${isAdmin ? ', as admin' : ''}${from}${end}.`
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { team: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  await withSchema(context, async ({ owner }) => {
    const tokens = await listTeamTokens(owner, values.team)
    if (values.json) return context.out(`${JSON.stringify(tokens, null, 2)}\n`)
    for (const one of tokens) context.out(`${line(one)}\n`)
    if (tokens.length === 0) context.out('No tokens match.\n')
  })
}

function line({
  id,
  team,
  name,
  scopes,
  networks,
  is_admin,
  created,
  expires,
  last_used,
}: OperatorTokenRow): string {
  const day = (time: Date | null, never: string) => time?.toISOString().slice(0, 10) ?? never
  const parts = [
    scopes.join(','),
    ...(is_admin ? ['admin'] : []),
    ...(networks.length > 0 ? [`from ${networks.join(',')}`] : []),
    `made ${day(created, '')}`,
    `expires ${day(expires, 'never')}`,
    `used ${day(last_used, 'never')}`,
  ]
  return `${id}  ${team}  ${JSON.stringify(name)}  ${parts.join('  ')}`
}

async function revoke(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const word = parseOneArgument(positionals, 'a token, or its id: pharos token list')
  // Of a leaked token, often only the text is known.
  const id = parseApiToken(word)?.id ?? word
  await withSchema(context, async ({ owner }) => {
    await revokeTeamToken(owner, id)
    context.out(`Token ${id} was revoked.\n`)
  })
}
