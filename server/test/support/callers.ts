// Every kind of caller of the API: the credential it sends and the identity behind it. The expected access of each identity is in
// expected-access.ts.
import { formatApiToken, parseApiToken, type ApiToken } from '../../src/session/api-token-format.ts'
import { sql } from 'kysely'
import type { StaffRole } from '@pharos/contract/staff-role'
import type { TestApi } from '../api.ts'
import {
  addApiToken,
  addStaffToken,
  forgeAccess,
  openSession,
  unsignedAccess,
  type ApiTokenOptions,
  type StaffEntry,
} from './credentials.ts'
import type { Fixtures } from './fixtures.ts'
import { addProvider, proveByProvider } from './identity.ts'

/**
 * The true identity of a caller. `stranger` sends a credential that must not be accepted, `misplaced` a good one with the scheme
 * of the other kind.
 */
export type Identity =
  | { readonly kind: 'guest' | 'stranger' | 'misplaced' }
  | { readonly kind: 'source'; readonly key: 'detector' | 'other' }
  | { readonly kind: 'staff_token'; readonly isStaff: true; readonly scopes: readonly string[] }
  | {
      readonly kind: 'user' | 'token'
      readonly team: Team
      readonly isAdmin: boolean
      readonly isStaff: boolean
      /** Of staff: their roles, and how they have entered the team. */
      readonly staffRoles: readonly StaffRole[]
      readonly entry: StaffEntry
      readonly scopes: readonly string[]
      /** An API token that is limited to resources which no request is about. */
      readonly isLimited: boolean
      /** A demo account on a server that is reachable from other hosts. */
      readonly demoElsewhere: boolean
      /** On a server that is reachable from other hosts, where the sandbox of identity providers signs nobody in. */
      readonly isElsewhere?: true
      /** The team requires a second factor, and the user has not enabled it. */
      readonly lacksSecondFactor: boolean
      /** The team requires its identity provider of addresses in its domain, and the password opened the session of such a one. */
      readonly isBound?: true
      /** What has opened the session: the account, or the identity provider of the team or of another one. */
      readonly openedBy: 'account' | 'own provider' | 'foreign provider'
    }

type Team = 'red' | 'blue' | 'bare' | 'strict' | 'closed'

export type Presented = {
  /** The Authorization header; undefined for an anonymous call. */
  readonly authorization?: string
  /** Source address of the call; loopback by default. */
  readonly from?: string
  /** The user and refresh token of the session, for operations on the session itself. */
  readonly userId?: number
  readonly refresh?: string
}

export type Caller = {
  readonly name: string
  readonly identity: Identity
  /** Creates a new credential. */
  readonly present: (api: TestApi, fixtures: Fixtures) => Promise<Presented>
  /** The call goes to the server that listens on all interfaces. */
  readonly elsewhere?: true
}

const allScopes = [
  'alerts:read',
  'alerts:write',
  'ipam:read',
  'ipam:write',
  'dns:read',
  'dns:write',
  'inventory:read',
  'lighthouse:read',
  'shield:read',
  'shield:write',
  'lighthouse:write',
  'team:read',
  'team:write',
  'webhooks:read',
  'webhooks:write',
  'audit:read',
]

export const userIn = (team: Team, rest: object = {}): Identity => ({
  kind: 'user',
  team,
  isAdmin: false,
  isStaff: false,
  staffRoles: [],
  entry: 'none',
  scopes: [],
  isLimited: false,
  demoElsewhere: false,
  lacksSecondFactor: false,
  openedBy: 'account',
  ...rest,
})

const program = (team: Team, rest: object = {}): Identity => ({
  kind: 'token',
  team,
  isAdmin: false,
  isStaff: false,
  staffRoles: [],
  entry: 'none',
  scopes: allScopes,
  isLimited: false,
  demoElsewhere: false,
  lacksSecondFactor: false,
  openedBy: 'account',
  ...rest,
})

const staffIn = (team: Team, rest: object = {}): Identity =>
  userIn(team, { isStaff: true, staffRoles: ['admin'], entry: 'changing', ...rest })

const stranger: Identity = { kind: 'stranger' }

type PersonName = keyof Fixtures['people']

function bearerOf(name: PersonName, team: Team, entry?: StaffEntry): Caller['present'] {
  return async (api, fixtures) => {
    const { userId } = fixtures.people[name]
    const { access, refresh } = await openSession(api, userId, fixtures[team].teamId, {
      ...(entry && { entry }),
    })
    return { authorization: `Bearer ${access}`, userId, refresh }
  }
}

/** A session of blue's admin that a recovery code of the team has opened. */
async function recoveredBearer(api: TestApi, fixtures: Fixtures): Promise<Presented> {
  const presented = await bearerOf('blue', 'blue')(api, fixtures)
  await sql`
    insert into session_proofs (session_id, kind, expires, strong, team_id)
    select id, 'recovery', now() + interval '1 hour', true, team_id from sessions
    where user_id = ${fixtures.people.blue.userId} and revoked is null order by created desc limit 1`.execute(
    api.database.postgres.owner,
  )
  return presented
}

/** A session of a member of blue whose address is in no domain of its identity provider, opened with a second factor. */
async function strongBearer(api: TestApi, fixtures: Fixtures): Promise<Presented> {
  const { userId } = fixtures.people.contractor
  const { sessionId, access, refresh } = await openSession(api, userId, fixtures.blue.teamId)
  await sql`
    with p as (update session_proofs set strong = true where session_id = ${sessionId})
    update sessions set second_factor = true where id = ${sessionId}`.execute(api.database.postgres.owner)
  return { authorization: `Bearer ${access}`, userId, refresh }
}

/** A session of red's admin that the identity provider of a team has opened. */
function providedBearer(by: 'red' | 'blue'): Caller['present'] {
  return async (api, fixtures) => {
    const { userId } = fixtures.people.admin
    const { sessionId, access, refresh } = await openSession(api, userId, fixtures.red.teamId)
    const key = by === 'red' ? 'callersofred' : 'callersofblu'
    const provider = await addProvider(api, fixtures[by], { key, issuer: 'https://192.0.2.1' })
    await proveByProvider(api, sessionId, provider)
    return { authorization: `Bearer ${access}`, userId, refresh }
  }
}

/** An access token of red's admin whose account, session or membership is changed after it was issued. */
function tamperedBearer(spoil: (api: TestApi, sessionId: string) => Promise<unknown>): Caller['present'] {
  return async (api, fixtures) => {
    const { sessionId, access } = await openSession(api, fixtures.people.admin.userId, fixtures.red.teamId)
    await spoil(api, sessionId)
    return { authorization: `Bearer ${access}` }
  }
}

function forgedBearer(forgery: Parameters<typeof forgeAccess>[3]): Caller['present'] {
  return async (api, fixtures) => ({
    authorization: `Bearer ${await forgeAccess(api, fixtures.people.admin.userId, fixtures.red.teamId, forgery)}`,
  })
}

function tokenOf(team: Team, options: ApiTokenOptions, from?: string): Caller['present'] {
  return async (api, fixtures) => ({
    authorization: `Token ${await addApiToken(api, fixtures[team].teamId, { scopes: allScopes, ...options })}`,
    ...(from ? { from } : {}),
  })
}

function staffTokenOf(options: Parameters<typeof addStaffToken>[1], from?: string): Caller['present'] {
  return async (api) => ({
    authorization: `Token ${await addStaffToken(api, options)}`,
    ...(from ? { from } : {}),
  })
}

const staffProgram = (...scopes: string[]): Identity => ({ kind: 'staff_token', isStaff: true, scopes })

const withHeader =
  (authorization: string): Caller['present'] =>
  async () => ({ authorization })

const sessions = ({ database }: TestApi) => database.postgres.owner.updateTable('sessions')

const past = new Date(Date.now() - 60_000)

export const callers: readonly Caller[] = [
  { name: 'no credential', identity: { kind: 'guest' }, present: async () => ({}) },

  { name: 'an empty header', identity: stranger, present: withHeader('') },
  { name: 'a header without a scheme', identity: stranger, present: withHeader('abcdef') },
  { name: 'a scheme without a credential', identity: stranger, present: withHeader('Bearer ') },
  { name: 'a header of two credentials', identity: stranger, present: withHeader('Bearer a, Token b') },
  { name: 'another scheme', identity: stranger, present: withHeader('Basic YWRtaW46YWRtaW4=') },
  { name: 'an unparsable bearer', identity: stranger, present: withHeader('Bearer abc.def.ghi') },
  { name: 'an unparsable token', identity: stranger, present: withHeader('Token phs_abc_def') },
  {
    name: 'a bearer of 5,000 characters',
    identity: stranger,
    present: withHeader(`Bearer ${'a'.repeat(5000)}`),
  },

  { name: 'an expired bearer', identity: stranger, present: forgedBearer({ secondsToLive: -1 }) },
  { name: 'a bearer of another audience', identity: stranger, present: forgedBearer({ audience: 'api' }) },
  { name: 'a bearer of another type', identity: stranger, present: forgedBearer({ type: 'JWT' }) },
  { name: 'a bearer of another issuer', identity: stranger, present: forgedBearer({ issuer: 'mallory' }) },
  { name: 'a bearer signed by another key', identity: stranger, present: forgedBearer({ foreignKey: true }) },
  {
    name: 'a bearer of an old session version',
    identity: stranger,
    present: forgedBearer({ sessionVersion: 0 }),
  },
  {
    name: 'a bearer without a signature',
    identity: stranger,
    present: async (api, { people, red }) => ({
      authorization: `Bearer ${await unsignedAccess(api, people.admin.userId, red.teamId)}`,
    }),
  },
  {
    name: 'a bearer of a revoked session',
    identity: stranger,
    present: tamperedBearer((api, id) =>
      sessions(api).set({ revoked: past, revoked_reason: 'logout' }).where('id', '=', id).execute(),
    ),
  },
  {
    name: 'a bearer of an expired session',
    identity: stranger,
    present: tamperedBearer((api, id) => sessions(api).set({ expires: past }).where('id', '=', id).execute()),
  },
  {
    name: 'a bearer of a deleted session',
    identity: stranger,
    present: tamperedBearer((api, id) =>
      api.database.postgres.owner.deleteFrom('sessions').where('id', '=', id).execute(),
    ),
  },
  { name: 'a bearer of a former member', identity: stranger, present: bearerOf('former', 'red') },

  { name: 'a member', identity: userIn('red'), present: bearerOf('member', 'red') },
  { name: 'an admin', identity: userIn('red', { isAdmin: true }), present: bearerOf('admin', 'red') },
  { name: 'staff', identity: staffIn('red'), present: bearerOf('staff', 'red') },
  {
    name: 'staff who have entered the team for reading',
    identity: staffIn('red', { entry: 'reading' }),
    present: bearerOf('staff', 'red', 'reading'),
  },
  {
    name: 'staff without a reason',
    identity: staffIn('red', { entry: 'none' }),
    present: bearerOf('staff', 'red', 'none'),
  },
  ...(['reader', 'billing', 'noc'] as const).map((role) => ({
    name: `staff with the role ${role}`,
    identity: staffIn('red', { staffRoles: [role] }),
    present: bearerOf(role, 'red'),
  })),
  {
    name: 'an admin of another team',
    identity: userIn('blue', { isAdmin: true }),
    present: recoveredBearer,
  },
  {
    name: 'a member with a password in a team that requires its identity provider of this domain',
    identity: userIn('blue', { isBound: true }),
    present: bearerOf('bound', 'blue'),
  },
  {
    name: 'a contractor with a second factor in a team that requires its identity provider of other domains',
    identity: userIn('blue'),
    present: strongBearer,
  },
  {
    name: 'an admin of a team without modules',
    identity: userIn('bare', { isAdmin: true }),
    present: bearerOf('bare', 'bare'),
  },
  {
    name: 'staff in a team without modules',
    identity: staffIn('bare'),
    present: bearerOf('staff', 'bare'),
  },
  {
    name: 'an admin without a second factor in a team that requires one',
    identity: userIn('strict', { isAdmin: true, lacksSecondFactor: true }),
    present: bearerOf('lacking', 'strict'),
  },
  {
    name: 'staff without a second factor in a team that requires one',
    identity: staffIn('strict', { lacksSecondFactor: true }),
    present: bearerOf('staff', 'strict'),
  },
  {
    name: 'an admin with a password in a team that requires its identity provider',
    identity: userIn('closed', { isAdmin: true }),
    present: bearerOf('closed', 'closed'),
  },
  {
    name: 'an admin whom the identity provider of the team has signed in',
    identity: userIn('red', { isAdmin: true, openedBy: 'own provider' }),
    present: providedBearer('red'),
  },
  {
    name: 'an admin whom the identity provider of another team has signed in',
    identity: userIn('red', { isAdmin: true, openedBy: 'foreign provider' }),
    present: providedBearer('blue'),
  },
  {
    name: 'a demo user on loopback',
    identity: userIn('red', { isAdmin: true }),
    present: bearerOf('demo', 'red'),
  },
  {
    name: 'a demo user from another host',
    identity: userIn('red', { isAdmin: true, demoElsewhere: true }),
    present: bearerOf('demo', 'red'),
    elsewhere: true,
  },
  {
    name: 'an admin from another host',
    identity: userIn('red', { isAdmin: true, isElsewhere: true }),
    present: bearerOf('admin', 'red'),
    elsewhere: true,
  },

  { name: 'an API token', identity: program('red'), present: tokenOf('red', {}) },
  {
    name: 'an API token with the admin role',
    identity: program('red', { isAdmin: true }),
    present: tokenOf('red', { isAdmin: true }),
  },
  {
    name: 'an API token that is limited to other resources',
    identity: program('red', { isAdmin: true, isLimited: true }),
    present: tokenOf('red', { isAdmin: true, isLimited: true }),
  },
  {
    name: 'an API token without scopes',
    identity: program('red', { scopes: [] }),
    present: tokenOf('red', { scopes: [] }),
  },
  ...allScopes.map((scope) => ({
    name: `an API token with ${scope} only`,
    identity: program('red', { scopes: [scope] }),
    present: tokenOf('red', { scopes: [scope] }),
  })),
  {
    name: 'an API token with scopes that only resemble valid ones',
    identity: program('red', { scopes: [] }),
    present: tokenOf('red', { scopes: ['ipam', 'ipam:*', '*', 'IPAM:READ', 'lighthouse:reader'] }),
  },
  { name: 'an API token of another team', identity: program('blue'), present: tokenOf('blue', {}) },
  {
    name: 'an API token of a team without modules',
    identity: program('bare'),
    present: tokenOf('bare', {}),
  },
  {
    name: 'an API token from its network',
    identity: program('red'),
    present: tokenOf('red', { networks: ['198.51.100.0/24', '2001:db8:9::/48'] }, '198.51.100.7'),
  },
  {
    name: 'an API token from its network, over a dual-stack socket',
    identity: program('red'),
    present: tokenOf('red', { networks: ['198.51.100.0/24'] }, '::ffff:198.51.100.7'),
  },
  {
    name: 'an API token from another network',
    identity: stranger,
    present: tokenOf('red', { networks: ['198.51.100.0/24', '2001:db8:9::/48'] }, '198.51.101.7'),
  },
  { name: 'an expired API token', identity: stranger, present: tokenOf('red', { expires: past }) },
  { name: 'a revoked API token', identity: stranger, present: tokenOf('red', { revoked: true }) },
  {
    name: 'an API token that expired because it was unused',
    identity: stranger,
    present: tokenOf('red', { idleDays: 8 }),
  },
  {
    name: 'an API token with a changed secret',
    identity: stranger,
    present: async (api, { red }) => {
      const tokens = [await addApiToken(api, red.teamId), await addApiToken(api, red.teamId)]
      const [{ id }, { secret }] = tokens.map((token) => parseApiToken(token)!) as [ApiToken, ApiToken]
      return { authorization: `Token ${formatApiToken({ holder: 'team', id, secret })}` }
    },
  },
  {
    name: 'an API token as a bearer',
    identity: { kind: 'misplaced' },
    present: async (api, { red }) => ({
      authorization: `Bearer ${await addApiToken(api, red.teamId, { scopes: allScopes })}`,
    }),
  },
  {
    name: 'an access token as an API token',
    identity: { kind: 'misplaced' },
    present: async (api, { people, red }) => ({
      authorization: `Token ${(await openSession(api, people.admin.userId, red.teamId)).access}`,
    }),
  },
  {
    name: 'a refresh token as a bearer',
    identity: stranger,
    present: async (api, { people, red }) => ({
      authorization: `Bearer ${(await openSession(api, people.admin.userId, red.teamId)).refresh}`,
    }),
  },

  ...[['admin:read'], ['admin:write'], ['admin:read', 'admin:write']].map((scopes) => ({
    name: `a staff token with ${scopes.join(' and ')}`,
    identity: staffProgram(...scopes),
    present: staffTokenOf({ scopes }),
  })),
  {
    name: 'a staff token from its network',
    identity: staffProgram('admin:read', 'admin:write'),
    present: staffTokenOf(
      { scopes: ['admin:read', 'admin:write'], networks: ['198.51.100.0/24'] },
      '198.51.100.7',
    ),
  },
  {
    name: 'a staff token from another network',
    identity: stranger,
    present: staffTokenOf({ scopes: ['admin:read'], networks: ['198.51.100.0/24'] }, '198.51.101.7'),
  },
  {
    name: 'an expired staff token',
    identity: stranger,
    present: staffTokenOf({ scopes: ['admin:read'], expires: past }),
  },
  {
    name: 'a revoked staff token',
    identity: stranger,
    present: staffTokenOf({ scopes: ['admin:read'], revoked: true }),
  },
  {
    name: 'a staff token as a bearer',
    identity: stranger,
    present: async (api) => ({
      authorization: `Bearer ${await addStaffToken(api, { scopes: ['admin:read', 'admin:write'] })}`,
    }),
  },
  {
    name: 'the secret of a staff token as an API token',
    identity: stranger,
    present: async (api) => {
      const { id, secret } = parseApiToken(await addStaffToken(api, { scopes: ['admin:read'] }))!
      return { authorization: `Token ${formatApiToken({ holder: 'team', id, secret })}` }
    },
  },
  {
    name: 'an API token with scopes of staff',
    identity: program('red', { scopes: ['admin:read', 'admin:write'] }),
    present: tokenOf('red', { scopes: ['admin:read', 'admin:write'] }),
  },

  {
    name: 'the detector',
    identity: { kind: 'source', key: 'detector' },
    present: async (_api, { sources }) => ({ authorization: `Token ${sources.detector}` }),
  },
  {
    name: 'the detector, by Basic',
    identity: { kind: 'source', key: 'detector' },
    present: async (_api, { sources }) => ({
      authorization: `Basic ${Buffer.from(`any:${sources.detector}`).toString('base64')}`,
    }),
  },
  {
    name: 'another detector',
    identity: { kind: 'source', key: 'other' },
    present: async (_api, { sources }) => ({ authorization: `Token ${sources.other}` }),
  },
  {
    name: 'a detector with a wrong secret',
    identity: stranger,
    present: async (_api, { sources }) => ({ authorization: `Token ${sources.detector}x` }),
  },
  {
    name: 'the detector, as a bearer',
    identity: stranger,
    present: async (_api, { sources }) => ({ authorization: `Bearer ${sources.detector}` }),
  },
]
