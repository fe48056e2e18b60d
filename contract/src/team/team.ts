// Teams: their properties, and the list of teams of a user. Members are in member.ts, domains in domain.ts.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import {
  CountryOrEmpty,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
  Component,
  Enumeration,
} from '../scalar.ts'
import { defaultRoles, RoleName } from '../role.ts'
import { TeamSummary } from '../session/session.ts'
import { Line, Paragraphs } from '../text.ts'

/** A team in a path: its id, or `current` for the team of the credential. */
export const TeamInPath = Type.String({
  pattern: '^(current|[1-9][0-9]{0,14})$',
  maxLength: 15,
  description: 'id of a team, or `current`',
  expects: 'the id of a team, or current',
})

const DefaultRoles = Type.Array(Enumeration('DefaultRole', defaultRoles), {
  minItems: 1,
  maxItems: defaultRoles.length,
  uniqueItems: true,
  description:
    'roles of members who join by a domain, and of members without `is_admin` in addMember and updateMember',
})

export const Team = Component('Team', {
  ...TeamSummary.properties,
  slug: Type.String({ description: 'short name of the team, unique' }),
  description: Type.String({ description: 'text of the team' }),
  billing_email: Type.String({ description: 'an e-mail address, or empty' }),
  technical_email: Type.String({ description: 'an e-mail address, or empty' }),
  abuse_email: Type.String({ description: 'an e-mail address, or empty' }),
  noc_phone: Type.String({ description: 'international, beginning with +, or empty' }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2, or empty' }),
  timezone: Type.String({ description: 'IANA name, such as Europe/Amsterdam' }),
  asns: Type.Array(
    Component('TeamSummaryAsn', {
      asn: Type.Integer({ minimum: 1, maximum: 4_294_967_295, description: 'AS number' }),
      verified: { ...NullableTime, description: 'when it was verified; null if it is not' },
    }),
  ),
  require_2fa: Type.Boolean({ description: 'whether members need a second factor' }),
  default_roles: DefaultRoles,
  token_days_max: Nullable(
    Type.Integer({ description: 'days after which a new API token expires at the latest; null: no limit' }),
  ),
  created: { ...Time, description: 'when the team was created' },
  member_count: Type.Integer({ minimum: 0, description: 'active members, without invitations' }),
})
export type Team = Static<typeof Team>

const teamRoles = ['admin', 'member', 'staff'] as const

export const AvailableTeam = Component('AvailableTeam', {
  ...TeamSummary.properties,
  role: {
    ...Enumeration('TeamRole', teamRoles),
    description: '`admin`, `member` for all other roles, or `staff`: how the caller may enter the team',
  },
  roles: Type.Array(RoleName, {
    description: 'roles of the caller in the team; empty for staff who are no member',
  }),
  sign_in: Nullable(
    Component(
      'NeededSignIn',
      { provider: Nullable(Type.String({ description: 'key of the identity provider of the team' })) },
      {
        description:
          'the team needs a sign-in with its identity provider before this session opens it; null if it does not',
      },
    ),
  ),
})
export type AvailableTeam = Static<typeof AvailableTeam>

const Email = Type.String({ maxLength: 254, description: 'an e-mail address, or empty for none' })

/** Fields that a team may change. The provider sets modules and slug. */
export const TeamChanges = Component('TeamChanges', {
  name: Optional(
    Line({ maxLength: 200, pattern: '^\\S', expects: 'a name that does not begin with a space' }),
  ),
  description: Optional(Paragraphs({ maxLength: 2000 })),
  billing_email: Optional({ ...Email, description: 'address for invoices, or empty' }),
  technical_email: Optional({ ...Email, description: 'address for technical questions, or empty' }),
  abuse_email: Optional({ ...Email, description: 'address for reports of abuse, or empty' }),
  noc_phone: Optional(
    Type.String({
      maxLength: 40,
      pattern: '^(\\+[1-9][0-9 ().-]{3,38})?$',
      description: 'international, such as +31 20 123 4567, or empty for none',
      expects: 'an international telephone number such as +31 20 123 4567, or empty',
    }),
  ),
  country: Optional(CountryOrEmpty),
  timezone: Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, such as Europe/Amsterdam' }),
  ),
  require_2fa: Optional(Type.Boolean({ description: 'whether members need a second factor' })),
  default_roles: Optional(DefaultRoles),
  token_days_max: Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1826,
        description: 'days after which a new API token expires at the latest; null: no limit',
      }),
    ),
  ),
})
export type TeamChanges = Static<typeof TeamChanges>

const teamOrderings = ['name', 'id', 'created'] as const

export const listTeamsRoute = route({
  name: 'listTeams',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams',
  summary: 'Get current available teams',
  description:
    'The teams of the user, with the role in each; for staff all teams. `sign_in` is set for a team that a sign-in with its identity provider ' +
    'opens first. An API token has one team. `name` matches names that contain it, case-insensitively.',
  permission: { credential: 'any', scope: 'team:read', personal: true },
  query: Strict({
    name: Optional(Type.String({ minLength: 1, maxLength: 200 })),
    ordering: Ordering(teamOrderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(AvailableTeam),
  success: 200,
})

export const getTeamRoute = route({
  name: 'getTeam',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}',
  summary: 'Get team',
  description: 'Returns a team of the user, or the team of the API token. `is_admin` refers to the caller.',
  permission: { credential: 'any', scope: 'team:read', grant: 'team.see' },
  params: Strict({ team_id: TeamInPath }),
  response: Team,
  success: 200,
  conditional: true,
})

export const updateTeamRoute = route({
  name: 'updateTeam',
  group: 'Team',
  method: 'PATCH',
  path: '/v3/teams/{team_id}',
  summary: 'Update Team',
  description:
    'Changes the given fields; for admins of the team, and `billing_email` for the role billing too. Setting `require_2fa` requires an admin with a second ' +
    'factor: members without one then have access only to their own account until they enable one.',
  permission: {
    credential: 'any',
    scope: 'team:write',
    grant: 'team.manage',
    fields: { billing_email: 'billing.manage' },
  },
  params: Strict({ team_id: TeamInPath }),
  body: TeamChanges,
  response: Team,
  success: 200,
  errors: ['forbidden', 'conflict'],
  conditional: true,
})

export const teamRoutes = [listTeamsRoute, getTeamRoute, updateTeamRoute]
