// What the installation stores about the caller's account: a copy of it, and its deletion (docs/privacy.md).
import { Type, type Static } from 'typebox'
import { RoleName } from '../role.ts'
import { route } from '../route.ts'
import { Component, Id, Nullable, NullableTime, Optional, Strict, Time } from '../scalar.ts'
import { ScopeName } from '../scope.ts'
import { StaffRoleName } from '../staff-role.ts'
import { CurrentPassword } from './account.ts'
import { PasskeyAssertion } from './webauthn.ts'

/** An export has the newest of these, and their whole number. */
export const exportedAuditMax = 10_000
export const exportedSessionsMax = 1_000

const TeamId = Nullable({ ...Id, description: 'id of the team; null for none' })

const ExportedProfile = Component('ExportedProfile', {
  id: { ...Id, description: 'number of the account: `user:<id>` in the audit log' },
  email: Type.String({ description: 'e-mail address' }),
  email_confirmed: { ...NullableTime, description: 'when the address was confirmed; null if it was not' },
  username: Type.String({ description: 'name of the account' }),
  first_name: Type.String({ description: 'first name, or empty' }),
  last_name: Type.String({ description: 'last name, or empty' }),
  display_name: Type.String({ description: 'name to show' }),
  avatar_url: Type.String({ description: 'URL of a picture, or empty' }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2, or empty' }),
  billing_uuid: Type.String({ description: 'identifier in the billing system' }),
  staff_roles: Type.Array(StaffRoleName, { description: 'roles of an employee of the provider' }),
  has_password: Type.Boolean({ description: 'false: it signs in with an identity provider only' }),
  authenticator_added: { ...NullableTime, description: 'when an authenticator was added; null without one' },
  recovery_codes_left: Type.Integer({ minimum: 0, description: 'recovery codes that were not used' }),
  created: { ...Time, description: 'when the account was created' },
})

const ExportedMembership = Component('ExportedMembership', {
  team_id: { ...Id, description: 'id of the team' },
  team_name: Type.String({ description: 'name of the team' }),
  roles: Nullable(Type.Array(RoleName, { description: 'roles; null for a former membership' })),
  joined: { ...NullableTime, description: 'when the membership began; null for a former one' },
  ended: { ...NullableTime, description: 'when it ended; null for a present one' },
})

const ExportedIdentity = Component('ExportedIdentity', {
  team_id: { ...Id, description: 'id of the team whose identity provider it is' },
  provider_name: Type.String({ description: 'name of the identity provider' }),
  subject: Type.String({ description: 'identifier of the person at the identity provider' }),
  email: Type.String({ description: 'address that the identity provider states' }),
  linked: { ...Time, description: 'when it was linked' },
  last_used: { ...NullableTime, description: 'when it last signed in; null if it has not' },
})

const ExportedPasskey = Component('ExportedPasskey', {
  name: Type.String({ description: 'name for people' }),
  host: Type.String({ description: 'host of the portal that it is for' }),
  created: { ...Time, description: 'when it was added' },
  last_used: { ...NullableTime, description: 'when it last signed in; null if it has not' },
})

const ExportedSession = Component('ExportedSession', {
  id: Type.String({ description: 'UUID' }),
  team_id: { ...Id, description: 'its team' },
  created: { ...Time, description: 'when it was created' },
  last_used: { ...Time, description: 'when it was last refreshed' },
  expires: { ...Time, description: 'when it ends by itself' },
  revoked: { ...NullableTime, description: 'when it was ended; null if it was not' },
  address: Nullable(Type.String({ description: 'IP address of the sign-in' })),
  user_agent: Nullable(Type.String({ description: 'user agent of the sign-in' })),
  last_address: Nullable(Type.String({ description: 'IP address of the last refresh' })),
  last_user_agent: Nullable(Type.String({ description: 'user agent of the last refresh' })),
})

const ExportedToken = Component('ExportedToken', {
  id: Type.String({ description: 'public part of the token' }),
  team_id: { ...Id, description: 'its team' },
  name: Type.String({ description: 'name for people' }),
  scopes: Type.Array(ScopeName, { description: 'the operations that the token may call' }),
  created: { ...Time, description: 'when it was created' },
  expires: { ...NullableTime, description: 'when it expires; null for never' },
  last_used: { ...NullableTime, description: 'when it was last used; null if it was not' },
  revoked: { ...NullableTime, description: 'when it was revoked; null if it was not' },
})

const ExportedNotificationSettings = Component('ExportedNotificationSettings', {
  team_id: { ...TeamId, description: 'the team; null: those of an employee of the provider' },
  mail: Type.Boolean({ description: 'whether notifications are sent by mail' }),
  digest: Type.String({ description: 'how often: `immediate`, `hourly` or `daily`' }),
  attack_bps: Nullable(Type.Integer({ description: 'bits per second from which attacks are reported' })),
  attack_pps: Nullable(Type.Integer({ description: 'packets per second from which attacks are reported' })),
  monthly_report: Type.Boolean({ description: 'whether the monthly report is sent by mail' }),
  kinds: Type.Record(Type.String(), Type.Boolean(), { description: 'whether each kind is mailed' }),
})

const ExportedView = Component('ExportedView', {
  team_id: { ...Id, description: 'its team' },
  page: Type.String({ description: 'the page of the portal' }),
  name: Type.String({ description: 'name for people' }),
  search: Type.String({ description: 'the search part of the address' }),
  panels: Type.Array(Type.Unknown(), { description: 'panels of the overview' }),
  created: { ...Time, description: 'when it was created' },
})

const ExportedAuditEntry = Component('ExportedAuditEntry', {
  id: { ...Id, description: 'id of the entry' },
  at: { ...Time, description: 'time of the change' },
  team_id: { ...TeamId, description: 'the team whose audit log it is in; null: that of the provider' },
  credential: Nullable(Type.String({ description: '`session:<id>` or `staff_access:<id>`' })),
  action: Type.String({ description: 'noun and verb, such as `announcement.update`' }),
  target: Type.String({ description: 'noun and id, such as `announcement:42`' }),
  before: Type.Unknown({
    description:
      'of changes of the account itself: the changed fields before; else null, since they belong to the team',
  }),
  after: Type.Unknown({ description: 'the changed fields after, as `before`' }),
  request_id: Nullable(Type.String({ description: 'the `X-Request-Id` of the request' })),
  address: Nullable(Type.String({ description: 'IP address of the request' })),
})

export const AccountExport = Component('AccountExport', {
  exported: { ...Time, description: 'when the copy was made' },
  profile: ExportedProfile,
  memberships: Type.Array(ExportedMembership, { description: 'teams, also former ones' }),
  identities: Type.Array(ExportedIdentity, { description: 'linked identities of identity providers' }),
  passkeys: Type.Array(ExportedPasskey, { description: 'passkeys' }),
  sessions: Type.Array(ExportedSession, {
    description: `sessions that are still stored, the newest ${exportedSessionsMax} of \`session_count\``,
  }),
  session_count: Type.Integer({ minimum: 0, description: 'sessions that are still stored' }),
  api_tokens: Type.Array(ExportedToken, {
    description: 'API tokens that the account created, without secrets',
  }),
  notification_settings: Type.Array(ExportedNotificationSettings, {
    description: 'saved settings of notifications; without them the defaults apply',
  }),
  saved_views: Type.Array(ExportedView, {
    description: 'saved views of the account, without those that it shared with a team',
  }),
  audit_entries: Type.Array(ExportedAuditEntry, {
    description: `entries of the audit log of what the account did, the newest ${exportedAuditMax} of \`audit_count\``,
  }),
  audit_count: Type.Integer({ minimum: 0, description: 'entries of what the account did' }),
})
export type AccountExport = Static<typeof AccountExport>

const permission = { credential: 'web', personal: true, local: true } as const

export const exportAccountRoute = route({
  name: 'exportAccount',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/export',
  summary: 'Export account',
  description:
    "What is stored about the caller's account, from one moment, without secrets: for the person to keep, or to take elsewhere. Of entries of the " +
    'audit log the values belong to the team, except for those about the account itself. Each export is an entry `account.export`.',
  permission,
  response: AccountExport,
  success: 200,
})

export const DeletedAccount = Component('DeletedAccount', {
  user_id: { ...Id, description: 'number of the account, which stays in the audit log' },
  teams: Type.Array(
    Component('DeletedAccountTeam', {
      id: { ...Id, description: 'id of the team' },
      name: Type.String({ description: 'name of the team' }),
      api_tokens_revoked: Type.Integer({ minimum: 0, description: 'API tokens of the account in the team' }),
      invitations_withdrawn: Type.Integer({ minimum: 0, description: 'open invitations that it sent' }),
    }),
    { description: 'the teams that it was a member of, or had API tokens or open invitations in' },
  ),
  sessions: Type.Integer({ minimum: 0, description: 'sessions, also ended ones' }),
  identities: Type.Integer({ minimum: 0, description: 'linked identities' }),
  passkeys: Type.Integer({ minimum: 0, description: 'passkeys' }),
  notifications: Type.Integer({ minimum: 0, description: 'notifications of its feed' }),
  audit_texts: Type.Integer({
    minimum: 0,
    description:
      'addresses and names in the audit log that are erased; the entries stay, with the number of the account',
  }),
})
export type DeletedAccount = Static<typeof DeletedAccount>

export const deleteAccountRoute = route({
  name: 'deleteAccount',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/delete',
  summary: 'Delete account',
  description:
    "Deletes the caller's account: sessions, API tokens, open invitations, passkeys, identities, settings and memberships. It cannot be undone. Takes " +
    'the current password, or a passkey with the options of `POST /v3/session/passkey/options`; a dry run, which returns what would go, takes ' +
    'neither. Returns 409 `last_admin` while a team would be left without an admin, with one error for each team, whose `ctx` has its `team_id`, and 409 `conflict` for an account that the ' +
    'platform file manages. A mail confirms the deletion. API tokens of service accounts keep working.',
  permission,
  body: Strict({
    current_password: Optional(CurrentPassword),
    passkey: Optional({
      ...PasskeyAssertion,
      description: 'a passkey of the account, instead of the password',
    }),
  }),
  response: DeletedAccount,
  success: 200,
  dryRun: true,
  bodyOptional: true,
  keyless: 'password',
  errors: ['wrong_password', 'last_admin', 'conflict', 'unavailable'],
})

export const personalDataRoutes = [exportAccountRoute, deleteAccountRoute]
