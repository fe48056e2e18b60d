// `pharos token`: API tokens of teams and staff tokens, created, listed and revoked by the operator.
import { parseArgs } from 'node:util'
import {
  describeResources,
  Resources as ResourcesSchema,
  type Resources,
} from '@pharos/contract/resource-limit'
import { scopes as knownScopes, staffScopes } from '@pharos/contract/scope'
import { describeHiddenCharacter, findHiddenCharacter } from '@pharos/contract/text'
import { tokenYearsMax, unusedDaysMax } from '@pharos/contract/team/token'
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
import {
  createStaffToken,
  listStaffTokens,
  revokeStaffToken,
  type StaffTokenRequest,
  type StaffTokenRow,
} from '../session/staff-token.ts'
import { createSchemaCheck, describeProblem } from '../text/schema-error.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { parseOneArgument, parseFuture, parseList, parseInteger } from './parse-arguments.ts'

export const token: Command = {
  name: 'token',
  usage: `create --team <slug> --name <name> --scopes <scope,...> [--expires <time|span>] [--max-unused-days <n>]
                    [--networks <cidr,...>] [--zones <zone,...> [--names <name,...>] [--types <type,...>]]
                    [--prefixes <cidr,...>] [--ports <id,...>] [--services <id,...>] [--admin] [--quiet]
             create --staff --name <name> --scopes <scope,...> --expires <time|span> [--networks <cidr,...>] [--quiet]
             list [--team <slug> | --staff] [--json]
             revoke <id or token>`,
  summary: `create, list and revoke API tokens of teams, and staff tokens

  --staff     a token for a program of the provider: it calls the operations of staff (/v3/admin), and nothing of a team
  --scopes    what the token may do: ${knownScopes.join(', ')};
              with --staff: ${staffScopes.join(', ')}
  --expires   a time such as 2026-12-31, or a span such as 90d or 12h, or never; without it the token of a team expires
              in a year, or after the longest time that the team allows
  --max-unused-days  it ends when it was not used for so many days
  --networks  addresses and networks it works from; without it from everywhere
  --zones, --prefixes, --ports, --services
              resources of the team to which the token is limited (docs/limited-tokens.md); --names and --types, such as
              _acme-challenge.* and TXT, limit it in each of the zones
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
    const { id, text, expires } =
      'team' in request
        ? await createTeamToken(owner, secret, request)
        : { ...(await createStaffToken(owner, secret, request)), expires: request.expires }
    context.out(`${text}\n`)
    if (!quiet)
      context.out(
        `\n${described(id, request, expires)}\nIt is not shown again. Send it as: Authorization: Token <token>\n`,
      )
  })
}

type Request = TokenRequest | StaffTokenRequest

function parseRequest(args: readonly string[]): { request: Request; quiet: boolean } {
  const text = { type: 'string' } as const
  const list = { type: 'string', multiple: true } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      team: text,
      staff: flag,
      name: text,
      scopes: list,
      expires: text,
      'max-unused-days': text,
      networks: list,
      zones: list,
      names: list,
      types: list,
      prefixes: list,
      ports: list,
      services: list,
      admin: flag,
      quiet: flag,
    },
  })
  const { team, staff, name, scopes, expires, networks, admin, quiet } = values
  const maxUnused = values['max-unused-days']
  if ((team === undefined) !== staff) throw new UsageError('Add either --team <slug> or --staff.')
  if (name === undefined || name.trim() === '' || name.length > 200) {
    throw new UsageError('Name the purpose of the token: --name <name>, 1 to 200 characters')
  }
  const hidden = findHiddenCharacter('line', name)
  if (hidden) throw new UsageError(`--name ${describeHiddenCharacter(hidden)}.`)
  if (scopes === undefined)
    throw new UsageError(`Name what it may do: --scopes ${(staff ? staffScopes : knownScopes).join(',')}`)
  const common = { name: name.trim(), scopes: parseList(scopes), networks: parseNetworks(networks) }
  const end = parseEnd(expires)
  const resources = parseResources(values)
  if (team === undefined) {
    if (admin || maxUnused !== undefined || resources)
      throw new UsageError(
        '--admin, --max-unused-days and resources are for tokens of a team, not for --staff.',
      )
    return { request: { ...common, expires: parseStaffEnd(end ?? null) }, quiet }
  }
  const maxUnusedDays =
    maxUnused === undefined ? null : parseInteger('--max-unused-days', maxUnused, 1, unusedDaysMax)
  return { request: { ...common, team, isAdmin: admin, resources, expires: end, maxUnusedDays }, quiet }
}

const resourceOptions = ['zones', 'names', 'types', 'prefixes', 'ports', 'services'] as const
type ResourceWords = Partial<Record<(typeof resourceOptions)[number], string[]>>

const resourceProblems = createSchemaCheck(ResourcesSchema)

/** Returns null for a token without a limit. The lists are those of the API, checked as there. */
function parseResources(values: ResourceWords): Resources | null {
  const given = resourceOptions.filter((option) => values[option] !== undefined)
  if (given.length === 0) return null
  // An empty variable in a script must not open the whole team.
  const empty = given.find((option) => parseList(values[option]).length === 0)
  if (empty) throw new UsageError(`--${empty} is empty.`)
  const { zones, names, types, prefixes, ports, services } = values
  if (!zones && (names || types)) throw new UsageError('--names and --types need --zones.')
  const within = { ...(names && { names: parseList(names) }), ...(types && { types: parseList(types) }) }
  const resources: Resources = {
    ...(zones && { zones: parseList(zones).map((zone) => ({ zone, ...within })) }),
    ...(prefixes && { prefixes: parseList(prefixes) }),
    ...(ports && { ports: parseIds('--ports', ports) }),
    ...(services && { services: parseIds('--services', services) }),
  }
  const [problem] = resourceProblems(resources)
  if (problem) throw new UsageError(`${describeProblem(problem, 'resources')}.`)
  return resources
}

const parseIds = (option: string, words: readonly string[]): number[] =>
  parseList(words).map((word) => parseInteger(option, word, 1, Number.MAX_SAFE_INTEGER))

/** Returns null for `never`, undefined without the option. */
function parseEnd(text: string | undefined): Date | null | undefined {
  if (text === undefined) return undefined
  return text === 'never' ? null : parseFuture('--expires', text, new Date())
}

/** A staff token has access to every team, so it always expires. */
function parseStaffEnd(end: Date | null): Date {
  const latest = new Date()
  latest.setUTCFullYear(latest.getUTCFullYear() + tokenYearsMax)
  if (end !== null && end <= latest) return end
  throw new UsageError(`A staff token needs --expires, at most ${tokenYearsMax} years from now, such as 90d.`)
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

function described(id: string, request: Request, expires: Date | null): string {
  const { scopes, networks } = request
  const limit =
    'team' in request && request.resources ? `, limited to ${describeResources(request.resources)}` : ''
  const [holder, role] =
    'team' in request ? [`of team ${request.team}`, request.isAdmin ? ', as admin' : ''] : ['of staff', '']
  const from = networks.length > 0 ? ` from ${networks.join(', ')}` : ''
  const end = `, expires ${expires?.toISOString() ?? 'never'}`
  return `Token ${id} ${holder}: ${scopes.join(', ')}${role}${limit}${from}${end}.`
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      team: { type: 'string' },
      staff: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  if (values.team !== undefined && values.staff) throw new UsageError('Add either --team or --staff.')
  await withSchema(context, async ({ owner }) => {
    const staff = values.team === undefined ? await listStaffTokens(owner) : []
    const tokens: ListedToken[] = [
      ...staff.map((one) => ({ ...one, team: null, is_admin: false })),
      ...(values.staff ? [] : await listTeamTokens(owner, values.team)),
    ]
    if (values.json) return context.out(`${JSON.stringify(tokens, null, 2)}\n`)
    for (const one of tokens) context.out(`${line(one)}\n`)
    if (tokens.length === 0) context.out('No tokens match.\n')
  })
}

/** `team` is null for a staff token. */
type ListedToken = OperatorTokenRow | (StaffTokenRow & { readonly team: null; readonly is_admin: boolean })

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
}: ListedToken): string {
  const day = (time: Date | null, never: string) => time?.toISOString().slice(0, 10) ?? never
  const parts = [
    scopes.join(','),
    ...(is_admin ? ['admin'] : []),
    ...(networks.length > 0 ? [`from ${networks.join(',')}`] : []),
    `made ${day(created, '')}`,
    `expires ${day(expires, 'never')}`,
    `used ${day(last_used, 'never')}`,
  ]
  return `${id}  ${team ?? '(staff)'}  ${JSON.stringify(name)}  ${parts.join('  ')}`
}

async function revoke(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const word = parseOneArgument(positionals, 'a token, or its id: pharos token list')
  // Often only the text of a leaked token is known.
  const id = parseApiToken(word)?.id ?? word
  await withSchema(context, async ({ owner }) => {
    if (!(await revokeStaffToken(owner, id))) await revokeTeamToken(owner, id)
    context.out(`Token ${id} was revoked.\n`)
  })
}
