// Identity providers of a team: its members sign in with them. The provider of one team never opens another.
import { Type, type Static } from 'typebox'
import { defaultRoles, RoleNames } from '../role.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'
import { providerAnswer, Redirect } from '../session/sso.ts'
import { SignInReasonName } from '../sign-in-reason.ts'
import { Line, Paragraphs } from '../text.ts'
import { TeamInPath } from './team.ts'
import { OverlapHours, Subnets } from './token.ts'

export const providersMax = 3

export const certificatesMax = 5
export const providerStatuses = ['draft', 'active', 'disabled'] as const
export type ProviderStatus = (typeof providerStatuses)[number]
export const secondFactorRules = ['claim', 'local', 'trust'] as const
export type SecondFactorRule = (typeof secondFactorRules)[number]
const providerProblems = ['domain_lost', 'unreachable', 'certificate_expires'] as const

export const GroupMapping = Component('GroupMapping', {
  group: {
    ...Line({ minLength: 1, maxLength: 300, pattern: '\\S', expects: 'a group, such as net-ops' }),
    description: 'name or id of a group, exactly as the identity provider sends it',
  },
  roles: RoleNames,
})
export type GroupMapping = Static<typeof GroupMapping>

const fields = {
  name: {
    ...Line({ minLength: 1, maxLength: 100, pattern: '\\S', expects: 'a name that is not blank' }),
    description: 'name for people',
  },
  issuer: Line({
    minLength: 1,
    maxLength: 1000,
    description: 'issuer of OpenID Connect, exactly as the identity provider states it',
  }),
  client_id: { ...Line({ minLength: 1, maxLength: 500 }), description: 'client id of the application' },
  client_secret: Line({
    minLength: 1,
    maxLength: 1000,
    description: 'client secret of the application; no answer contains it',
  }),
  entity_id: Line({
    minLength: 1,
    maxLength: 1024,
    description: 'entity id of the identity provider in SAML, exactly as its metadata states it',
  }),
  sign_on_url: Line({
    minLength: 1,
    maxLength: 2000,
    description: 'single sign-on service of the identity provider in SAML, for the HTTP-Redirect binding',
  }),
  certificates: Type.Array(
    Paragraphs({ minLength: 1, maxLength: 10_000, description: 'certificate, as PEM or base64 of DER' }),
    {
      minItems: 1,
      maxItems: certificatesMax,
      uniqueItems: true,
      description: 'certificates with which the identity provider signs; only their keys count in a sign-in',
    },
  ),
  metadata_url: Line({
    minLength: 1,
    maxLength: 2000,
    description: 'URL of the SAML metadata of the identity provider; it is read when it is sent',
  }),
  metadata: Paragraphs({
    minLength: 1,
    maxLength: 262_144,
    description: 'SAML metadata of the identity provider, as XML',
  }),
  domain_ids: Type.Array(Id, {
    maxItems: 100,
    uniqueItems: true,
    description: 'domains of the team whose addresses sign in here; they count while they are verified',
  }),
  session_hours: Type.Integer({
    minimum: 1,
    maximum: 168,
    description: 'hours until a sign-in expires, whether or not the session is used',
  }),
  second_factor: {
    ...Enumeration('SecondFactorRule', secondFactorRules),
    description:
      '`claim`: the identity provider states whether a second factor was used; `local`: the second factor of the account is asked for; `trust`: every ' +
      'sign-in counts as one with a second factor',
  },
  second_factor_values: Type.Array(Line({ minLength: 1, maxLength: 200 }), {
    maxItems: 20,
    uniqueItems: true,
    description:
      'values of `acr`, `amr` or, with SAML, AuthnContextClassRef that state a second factor, beside the usual ones',
  }),
  groups_claim: {
    ...Line({ minLength: 1, maxLength: 200 }),
    description: 'name of the claim, or attribute of SAML, with the groups of the person',
  },
  default_roles: Type.Array(Enumeration('DefaultRole', defaultRoles), {
    maxItems: defaultRoles.length,
    uniqueItems: true,
    description: 'roles of people whom no mapping names; empty: they are refused',
  }),
  mappings: Type.Array(GroupMapping, {
    maxItems: 500,
    description: 'roles by group; a person has the roles of all their groups',
  }),
} as const

const signOutAtProvider = Type.Boolean({
  description:
    'whether signing out here also signs out at the identity provider (OpenID Connect RP-Initiated Logout)',
})

export const ProviderScim = Component('ProviderScim', {
  base_url: Type.String({ description: 'base URL of SCIM 2.0 to enter at the identity provider' }),
  created: { ...Time, description: 'when SCIM was turned on' },
  last_used: {
    ...NullableTime,
    description: 'last request, updated at most once a minute; null if there was none',
  },
  last_used_address: Nullable(Type.String({ description: 'IP address of the request at `last_used`' })),
  previous_secret_until: {
    ...NullableTime,
    description: 'until when the token before the last rotation works; null if only the newest one works',
  },
  allowed_subnets: Type.Array(Type.String(), {
    description: 'networks from which the token may be used, as CIDR; empty: from everywhere',
  }),
  users: Type.Integer({ minimum: 0, description: 'number of users that the identity provider has sent' }),
  members: Type.Integer({
    minimum: 0,
    description: 'number of members of the team whom SCIM decides on',
  }),
  groups: Type.Integer({ minimum: 0, description: 'number of groups that the identity provider has sent' }),
})
export type ProviderScim = Static<typeof ProviderScim>

const status = {
  ...Enumeration('ProviderStatus', providerStatuses),
  description: '`draft`: only for tests; `active`: signs in; `disabled`: signs nobody in',
}

const ofOidc = { ...Enumeration('OidcKind', ['oidc']), description: '`oidc`: OpenID Connect' }
const ofSaml = { ...Enumeration('SamlKind', ['saml']), description: '`saml`: SAML 2.0' }

const shared = {
  domain_ids: fields.domain_ids,
  session_hours: fields.session_hours,
  second_factor: fields.second_factor,
  second_factor_values: fields.second_factor_values,
  groups_claim: fields.groups_claim,
  default_roles: fields.default_roles,
  mappings: fields.mappings,
  tested: { ...NullableTime, description: 'when a test last ended in roles; null if none has' },
  problem: Nullable({
    ...Enumeration('ProviderProblem', providerProblems),
    description:
      '`domain_lost`: none of its domains is verified; `unreachable`: it did not answer the last sign-in; `certificate_expires`: its last certificate ' +
      'expires within 30 days, or has expired; null if there is none',
  }),
  scim: Nullable({
    ...ProviderScim,
    description: 'provisioning with SCIM; null while it is off',
  }),
  created: { ...Time, description: 'when it was added' },
} as const

const OidcProvider = Component('OidcProvider', {
  id: { ...Id, description: 'id of the identity provider' },
  kind: ofOidc,
  name: fields.name,
  status,
  issuer: fields.issuer,
  client_id: fields.client_id,
  sign_out_at_provider: signOutAtProvider,
  sp: Component(
    'OidcRelyingParty',
    {
      redirect_uri: Type.String({ description: 'redirect URI to enter at the identity provider' }),
      backchannel_logout_uri: Type.String({
        description: 'URI to which the identity provider sends that a person has signed out there',
      }),
      post_logout_redirect_uri: Type.String({
        description: 'page to which the identity provider returns after signing out',
      }),
    },
    { description: 'what the identity provider needs to know' },
  ),
  ...shared,
})

const SamlProvider = Component('SamlProvider', {
  id: { ...Id, description: 'id of the identity provider' },
  kind: ofSaml,
  name: fields.name,
  status,
  entity_id: fields.entity_id,
  sign_on_url: fields.sign_on_url,
  certificates: Type.Array(Type.String({ description: 'base64 of DER' }), {
    description: 'certificates with which the identity provider signs',
  }),
  certificates_expire: { ...Time, description: 'when the last of the certificates expires' },
  metadata_url: Nullable(
    Type.String({ description: 'URL from which the metadata was read last; null if it was entered' }),
  ),
  sp: Component(
    'SamlServiceProvider',
    {
      acs_url: Type.String({ description: 'assertion consumer service (ACS), for the HTTP-POST binding' }),
      entity_id: Type.String({ description: 'our entity id, which is the audience of assertions' }),
      metadata_url: Type.String({ description: 'URL of our metadata' }),
    },
    { description: 'what the identity provider needs to know' },
  ),
  ...shared,
})

export const Provider = Type.Union([OidcProvider, SamlProvider], { title: 'Provider' })
export type Provider = Static<typeof Provider>
export type ProviderKind = Provider['kind']

const permission = { credential: 'web', grant: 'team.manage' } as const
const inTeam = Strict({ team_id: TeamInPath })
const oneProvider = Strict({ team_id: TeamInPath, provider_id: Id })
const one = '/v3/teams/{team_id}/providers/{provider_id}' as const

export const listProvidersRoute = route({
  name: 'listProviders',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/providers',
  summary: 'List identity providers',
  description: 'The identity providers of the team.',
  permission,
  params: inTeam,
  query: Strict({ ordering: Ordering(['id', 'name', 'created'], 'id'), limit: Limit, offset: Offset }),
  response: Page(Provider),
  success: 200,
})

export const getProviderRoute = route({
  name: 'getProvider',
  group: 'Team',
  method: 'GET',
  path: one,
  summary: 'Get identity provider',
  description:
    'Returns one identity provider of the team, without its client secret. Its fields depend on `kind`.',
  permission,
  params: oneProvider,
  response: Provider,
  success: 200,
  conditional: true,
})

const samlSource = {
  metadata_url: Optional(fields.metadata_url),
  metadata: Optional(fields.metadata),
  entity_id: Optional(fields.entity_id),
  sign_on_url: Optional(fields.sign_on_url),
  certificates: Optional(fields.certificates),
}

const optional = {
  domain_ids: Optional(fields.domain_ids),
  session_hours: Optional(fields.session_hours),
  second_factor: Optional(fields.second_factor),
  second_factor_values: Optional(fields.second_factor_values),
  groups_claim: Optional(fields.groups_claim),
  default_roles: Optional(fields.default_roles),
  mappings: Optional(fields.mappings),
}

export const NewOidcProvider = Component('NewOidcProvider', {
  kind: ofOidc,
  name: fields.name,
  issuer: fields.issuer,
  client_id: fields.client_id,
  client_secret: fields.client_secret,
  sign_out_at_provider: Optional(signOutAtProvider),
  ...optional,
})

export const NewSamlProvider = Component('NewSamlProvider', {
  kind: ofSaml,
  name: fields.name,
  ...samlSource,
  ...optional,
})

export const createProviderRoute = route({
  name: 'createProvider',
  group: 'Team',
  method: 'POST',
  path: '/v3/teams/{team_id}/providers',
  summary: 'Add identity provider',
  description:
    `Adds an identity provider as a draft: test it, then activate it. At most ${providersMax} for each team. Issuers that are shared by companies are ` +
    'rejected, except `https://accounts.google.com`, whose `hd` is compared with the domains. A provider of SAML is given by `metadata_url`, by `metadata`, or by ' +
    '`entity_id`, `sign_on_url` and `certificates`.',
  permission,
  params: inTeam,
  body: Type.Union([NewOidcProvider, NewSamlProvider]),
  response: Provider,
  success: 201,
  creates: getProviderRoute,
  keyless: 'password',
  errors: ['quota_exceeded', 'conflict'],
  conditional: true,
})

export const updateProviderRoute = route({
  name: 'updateProvider',
  group: 'Team',
  method: 'PATCH',
  path: one,
  summary: 'Update identity provider',
  description:
    'Changes the given fields. `status` becomes `active` after a test that ended in roles, with a verified domain. A domain is bound to one provider. An active provider ' +
    'replaces auto-join of its domains. Disabling it, or taking a domain from it, ends the sign-ins that it has made. The issuer, ' +
    'or entity id, never changes: add another provider. Metadata that is sent replaces `sign_on_url` and `certificates`; fields of the other kind are rejected.',
  permission,
  params: oneProvider,
  body: Strict({
    name: Optional(fields.name),
    status: Optional(status),
    client_id: Optional(fields.client_id),
    client_secret: Optional(fields.client_secret),
    sign_out_at_provider: Optional(signOutAtProvider),
    metadata_url: samlSource.metadata_url,
    metadata: samlSource.metadata,
    sign_on_url: samlSource.sign_on_url,
    certificates: samlSource.certificates,
    ...optional,
  }),
  response: Provider,
  success: 200,
  keyless: 'password',
  errors: ['conflict', 'quota_exceeded'],
  conditional: true,
})

export const deleteProviderRoute = route({
  name: 'deleteProvider',
  group: 'Team',
  method: 'DELETE',
  path: one,
  summary: 'Delete identity provider',
  description: 'Deletes the provider with its links, and ends the sign-ins that it has made. Members stay.',
  permission,
  params: oneProvider,
  success: 204,
  conditional: true,
})

export const SignInTest = Component('SignInTest', {
  subject: Type.String({ description: 'subject of the person at the identity provider' }),
  email: Nullable(Type.String({ description: 'e-mail address' })),
  groups: Type.Array(Type.String(), { description: 'groups that the identity provider sent' }),
  claims: Type.Array(Type.String(), { description: 'names of all claims' }),
  second_factor: Type.Boolean({ description: 'whether the sign-in counts as one with a second factor' }),
  roles: { ...RoleNames, minItems: 0, description: 'roles that the person would have' },
  reason: Nullable({
    ...SignInReasonName,
    description: 'why the person could not sign in; null if they could',
  }),
})
export type SignInTest = Static<typeof SignInTest>

export const testProviderRoute = route({
  name: 'testProvider',
  group: 'Team',
  method: 'POST',
  path: `${one}/test`,
  summary: 'Test identity provider',
  description:
    'Without a body: returns the URL of the identity provider and sets the cookie of the browser, as single sign-on does. With the query of the redirect URI: returns ' +
    'what the identity provider states. A test links nothing and opens no session. The provider can be activated after a test that ends in roles.',
  permission,
  params: oneProvider,
  body: Strict({
    state: Optional(providerAnswer.state),
    code: providerAnswer.code,
    iss: providerAnswer.iss,
    error: providerAnswer.error,
  }),
  bodyOptional: true,
  response: Strict({ redirect: Nullable(Redirect), result: Nullable(SignInTest) }),
  success: 200,
  keyless: 'password',
  errors: ['sso_failed'],
})

export const FailedSignIn = Component('FailedSignIn', {
  id: { ...Id, description: 'id of the attempt' },
  at: { ...Time, description: 'when it failed' },
  reason: { ...SignInReasonName, description: 'why it failed' },
  claims: Type.Array(Type.String(), {
    description: 'names of the claims that the identity provider sent; no values',
  }),
  request_id: Type.String({ description: 'id of the request, which the person reads too' }),
})
export type FailedSignIn = Static<typeof FailedSignIn>

export const failedSignInsMax = 50

export const listSignInAttemptsRoute = route({
  name: 'listSignInAttempts',
  group: 'Team',
  method: 'GET',
  path: `${one}/attempts`,
  summary: 'List failed sign-ins',
  description: `The last ${failedSignInsMax} sign-ins and tests of the provider that failed within 30 days.`,
  permission,
  params: oneProvider,
  query: Strict({ ordering: Ordering(['at', 'id'], '-at'), limit: Limit, offset: Offset }),
  response: Page(FailedSignIn),
  success: 200,
})

export const CreatedScimToken = Component('CreatedScimToken', {
  token: Type.String({ description: 'the token to enter at the identity provider; shown once' }),
  base_url: Type.String({ description: 'base URL of SCIM 2.0 to enter at the identity provider' }),
})
export type CreatedScimToken = Static<typeof CreatedScimToken>

export const createScimTokenRoute = route({
  name: 'createScimToken',
  group: 'Team',
  method: 'POST',
  path: `${one}/scim-token`,
  summary: 'Create or rotate SCIM token',
  description:
    'Turns on provisioning with SCIM 2.0, or rotates the token: the former one works for `overlap_hours` more. While it is on, only SCIM makes people members: signing in ' +
    'does not. Groups have the roles of `mappings`, by the name or the external id of the group; people whom no group names have `default_roles`. SCIM ' +
    'removes only members that it has made, and members that signing in with an identity provider had made. `token` is shown only in this answer.',
  permission,
  params: oneProvider,
  body: Strict({ overlap_hours: Optional(OverlapHours), allowed_subnets: Optional(Subnets) }),
  bodyOptional: true,
  response: CreatedScimToken,
  success: 200,
  secret: true,
  errors: ['conflict'],
})

export const deleteScimTokenRoute = route({
  name: 'deleteScimToken',
  group: 'Team',
  method: 'DELETE',
  path: `${one}/scim-token`,
  summary: 'Delete SCIM token',
  description:
    'Turns off provisioning with SCIM, at once. Members stay, and signing in makes people members again. Users and groups are kept for the time when it is turned on again.',
  permission,
  params: oneProvider,
  success: 204,
})

export const providerRoutes = [
  listProvidersRoute,
  getProviderRoute,
  createProviderRoute,
  updateProviderRoute,
  deleteProviderRoute,
  testProviderRoute,
  listSignInAttemptsRoute,
  createScimTokenRoute,
  deleteScimTokenRoute,
]
