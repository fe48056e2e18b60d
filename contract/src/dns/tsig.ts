// TSIG keys of a team (RFC 8945), with which name servers transfer its zones and programs change them. The provider creates keys in the
// platform file, and the team its own; the secret is in the answer to the creation and nowhere else.
import { Type, type Static } from 'typebox'
import { dnsAdmin, dnsReading } from './term.ts'
import { ZoneResources } from '../resource-limit.ts'
import { route } from '../route.ts'
import {
  Actor,
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

/** Strongest last. SHA-1 and SHA-224 are for keys of the platform file only. */
export const tsigKeyAlgorithms = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const

const Subnets = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  maxItems: 100,
  description: 'addresses and networks (CIDR) from which the key may be used; empty: from everywhere',
})

const fields = {
  id: { ...Id, description: 'id of the key, for `tsig_key_ids` of the settings of a zone' },
  name: Type.String({ description: 'name of the key, with the trailing dot' }),
  label: Type.String({ description: 'name for people; empty for a key of the provider' }),
  algorithm: Type.String({ description: 'such as `hmac-sha256`' }),
  managed_by: {
    ...Enumeration('TsigKeyManager', ['team', 'provider']),
    description: 'who created it; a key of the provider is changed by the provider',
  },
  may_update: Type.Boolean({ description: 'whether it may change record sets by DNS UPDATE (RFC 2136)' }),
  may_transfer: Type.Boolean({
    description:
      'whether it may transfer all zones of the team, or of `resources`; `tsig_key_ids` of the settings of a zone allow further keys',
  }),
  resources: Nullable(ZoneResources),
  allowed_subnets: Type.Array(Type.String(), { description: 'as CIDR, an address as its /32 or /128' }),
  expires: { ...NullableTime, description: 'when it expires; null for never' },
  created: { ...Time, description: 'when it was created' },
  created_by: Actor,
}

export const TsigKey = Component('TsigKey', fields)
export type TsigKey = Static<typeof TsigKey>

export const CreatedTsigKey = Component('CreatedTsigKey', {
  ...fields,
  secret: Type.String({ description: 'the secret in Base64; shown once' }),
})
export type CreatedTsigKey = Static<typeof CreatedTsigKey>

/** A program must not leave credentials behind: no API token creates or deletes keys. */
const managing = { credential: 'web', module: dnsAdmin.module, grant: dnsAdmin.grant } as const
const params = Strict({ tsig_key_id: Id })

export const listTsigKeysRoute = route({
  name: 'listTsigKeys',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/tsig-keys',
  summary: 'List TSIG Keys',
  description:
    "The team's TSIG keys (RFC 8945), without their secrets: those that it created, and those that the provider has handed over. Keys of " +
    'the provider itself are not listed.',
  permission: dnsReading,
  query: Strict({ ordering: Ordering(['name', 'id', 'created'], 'name'), limit: Limit, offset: Offset }),
  response: Page(TsigKey),
  success: 200,
})

export const getTsigKeyRoute = route({
  name: 'getTsigKey',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/tsig-keys/{tsig_key_id}',
  summary: 'Get TSIG Key',
  description: 'Returns one TSIG key of the team, without its secret.',
  permission: dnsReading,
  params,
  response: TsigKey,
  success: 200,
  conditional: true,
})

export const createTsigKeyRoute = route({
  name: 'createTsigKey',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/tsig-keys',
  summary: 'Create TSIG Key',
  description:
    'Creates a key for name servers or programs. Its name is `label` with eight random characters. With `resources` the key is limited to ' +
    'their zones, and within them to `names` and `types`: an UPDATE of anything else is REFUSED, and so is a transfer of a zone with ' +
    '`names` or `types`. `secret` is shown only in this answer.',
  permission: managing,
  body: Strict({
    label: Type.String({
      pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$',
      maxLength: 40,
      description: 'first part of the name of the key',
      expects: 'up to 40 lower-case letters, digits and hyphens, such as acme-web1',
    }),
    algorithm: Optional(Enumeration('TsigAlgorithm', tsigKeyAlgorithms)),
    may_update: Optional(Type.Boolean({ default: false })),
    may_transfer: Optional(Type.Boolean({ default: false })),
    resources: Optional(ZoneResources),
    allowed_subnets: Optional(Subnets),
    expires: Optional({ ...NullableTime, description: 'when it expires; null or left out for never' }),
  }),
  response: CreatedTsigKey,
  success: 201,
  creates: getTsigKeyRoute,
  secret: true,
  errors: ['not_found', 'quota_exceeded'],
  conditional: true,
})

export const deleteTsigKeyRoute = route({
  name: 'deleteTsigKey',
  group: 'DNS',
  method: 'DELETE',
  path: '/v3/dns/tsig-keys/{tsig_key_id}',
  summary: 'Delete TSIG Key',
  description:
    'Deletes the key permanently and at once, also from the settings of zones. A key of the provider is 409 `conflict`, and so is one ' +
    'with which a secondary zone is transferred from its primaries.',
  permission: managing,
  params,
  success: 204,
  errors: ['conflict'],
  dryRun: true,
  conditional: true,
})

export const tsigKeyRoutes = [listTsigKeysRoute, getTsigKeyRoute, createTsigKeyRoute, deleteTsigKeyRoute]
