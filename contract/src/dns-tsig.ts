// TSIG keys of a team, for transfers of its zones. The provider creates them in the platform file; no answer contains a secret.
import { Type, type Static } from 'typebox'
import { dnsReading } from './dns-term.ts'
import { route } from './route.ts'
import { Component, Id, Limit, Offset, Ordering, Page, Strict, Time } from './scalar.ts'

export const TsigKey = Component('TsigKey', {
  id: { ...Id, description: 'id of the key, for `tsig_key_ids` of the settings of a zone' },
  name: Type.String({ description: 'name of the key, with the trailing dot' }),
  algorithm: Type.String({ description: 'such as `hmac-sha256`' }),
  created: { ...Time, description: 'when it was created' },
})
export type TsigKey = Static<typeof TsigKey>

export const listTsigKeysRoute = route({
  name: 'listTsigKeys',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/tsig-keys',
  summary: 'List TSIG Keys',
  description:
    "The team's TSIG keys (RFC 8945) with which name servers transfer its zones, without their secrets. The provider creates keys and " +
    'hands the secrets over; keys of the provider itself are not listed.',
  permission: dnsReading,
  query: Strict({ ordering: Ordering(['name', 'id', 'created'], 'name'), limit: Limit, offset: Offset }),
  response: Page(TsigKey),
  success: 200,
})

export const tsigKeyRoutes = [listTsigKeysRoute]
