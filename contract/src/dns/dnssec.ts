// DNSSEC of a zone: enable it, the DS records for the registrar, the DS records at the parent, key rollover, disable it.
import { Type, type Static } from 'typebox'
import { dnsAdmin, dnsReading, dnssecAlgorithms, dnssecStates, ZoneInPath } from './term.ts'
import { route } from '../route.ts'
import { Component, Enumeration, Id, Nullable, NullableTime, Optional, Strict, Time } from '../scalar.ts'

/** States of a key. `introduced`: published, not yet trusted; `retiring`: replaced, and still published. */
const dnssecKeyStates = ['introduced', 'active', 'retiring'] as const

export const DnssecKey = Component('DnssecKey', {
  id: Nullable({ ...Id, description: 'id of the key; null for a key of another signer' }),
  key_tag: Type.Integer({ minimum: 0, maximum: 65_535, description: 'tag of the key' }),
  flags: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    description: '257 for a key that the parent refers to',
  }),
  keytype: { ...Enumeration('DnssecKeyType', ['csk', 'ksk', 'zsk']), description: 'what the key signs' },
  algorithm: Type.String({ description: 'mnemonic of the algorithm: `ECDSAP256SHA256`' }),
  dnskey: Type.String({ description: 'rdata of the DNSKEY record' }),
  ds: Type.Array(Type.String(), { description: 'rdata of the DS records, one for each digest (2 and 4)' }),
  managed: Type.Boolean({
    description:
      'whether Pharos has the key and replaces it; false for a DNSKEY record that the team has added for another signer',
  }),
  active: Type.Boolean({ description: 'whether it signs here' }),
  state: { ...Enumeration('DnssecKeyState', dnssecKeyStates), description: 'state of the key' },
  created: { ...Time, description: 'when it was created' },
})
export type DnssecKey = Static<typeof DnssecKey>

export const Dnssec = Component('Dnssec', {
  status: { ...Enumeration('DnssecState', dnssecStates), description: 'state of DNSSEC' },
  algorithm: Nullable(
    Type.String({ description: 'mnemonic of the algorithm of the newest key; null while it is disabled' }),
  ),
  signer: {
    ...Enumeration('DnssecSigner', ['pharos', 'external']),
    description:
      '`external`: every name server gets the zone unsigned and signs it with keys of its own, so DNSSEC cannot be enabled here',
  },
  nsec3: Type.Boolean({ description: 'NSEC3 instead of NSEC, with the parameters of RFC 9276' }),
  keys: Type.Array(DnssecKey, { description: 'the published keys; empty while it is disabled' }),
  ds_records: Type.Array(Type.String(), {
    description: 'rdata of the DS records that the parent should have now',
  }),
  publish_after: {
    ...NullableTime,
    description: 'enter the DS records at the registrar after this time; null if now',
  },
  parent: Component('DnssecParent', {
    ds_present: Nullable(
      Type.Boolean({
        description: 'whether the parent has DS records; null if it was not asked yet, or did not answer',
      }),
    ),
    ds_matches: Nullable(
      Type.Boolean({
        description: 'whether all of its servers have a DS record of a key of the zone; null as `ds_present`',
      }),
    ),
    ds_records: Type.Array(Type.String(), {
      description: 'rdata of the DS records in the last answer of the parent',
    }),
    checked: { ...NullableTime, description: 'when the servers of the parent were last asked' },
  }),
  cds_published: Type.Boolean({
    description: 'CDS and CDNSKEY records tell the parent what to do (RFC 7344)',
  }),
  next_rollover: { ...NullableTime, description: 'when the key is replaced next; null if only on request' },
  unsigned_after: {
    ...NullableTime,
    description: 'while `pending_disabled`: the earliest time at which signatures are removed',
  },
  reason: Nullable(
    Type.String({ description: 'what the state waits for or fails at, as a sentence; null if nothing' }),
  ),
})
export type Dnssec = Static<typeof Dnssec>

const inZone = Strict({ zone: ZoneInPath })

export const enableDnssecRoute = route({
  name: 'enableDnssec',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/zones/{zone}/dnssec',
  summary: 'Enable DNSSEC',
  description:
    'Creates a key, signs the zone and returns the DS records at once; enter them at the registrar after `publish_after`. A zone ' +
    'that is signed already is not changed (200). While it is `pending_disabled`, the removal is cancelled and the key is kept. ' +
    'With another `algorithm`, the key is rolled over. A dry run shows no new key, since it keeps none.',
  permission: { ...dnsAdmin, limitedBy: 'whole_zone' },
  params: inZone,
  body: Component('NewDnssec', {
    algorithm: Optional({
      ...Enumeration('DnssecAlgorithm', dnssecAlgorithms),
      description: 'algorithm of the key; ECDSAP256SHA256 by default',
    }),
    nsec3: Optional(Type.Boolean({ default: false, description: 'NSEC3 instead of NSEC' })),
    cds: Optional(Type.Boolean({ default: true, description: 'publish CDS and CDNSKEY records' })),
    keys: Optional(
      Type.Array(
        Component('ImportedKey', {
          dnskey: Type.String({
            maxLength: 2048,
            description: 'rdata of the DNSKEY record: `257 3 13 mdsswUyr...`. Algorithms 8, 13, 14 and 15',
          }),
          private_key: Type.String({
            maxLength: 8192,
            description:
              'the private key: PKCS #8 in PEM, or the content of a `.private` file of BIND. It is never returned',
          }),
        }),
        {
          minItems: 1,
          maxItems: 4,
          description:
            'keys of the previous signer, used instead of a new one, so that the DS records at the parent stay valid',
        },
      ),
    ),
  }),
  bodyOptional: true,
  response: Dnssec,
  success: 202,
  also: { 200: 'DNSSEC is enabled as requested already' },
  errors: ['forbidden', 'conflict'],
  dryRun: true,
  conditional: true,
  ifMatch: true,
})

export const getDnssecRoute = route({
  name: 'getDnssec',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}/dnssec',
  summary: 'Get DNSSEC Configuration',
  description:
    'Returns the state of DNSSEC, the keys and what the parent shows. A zone without DNSSEC has the status `disabled`.',
  permission: { ...dnsReading, limitedBy: 'whole_zone' },
  params: inZone,
  response: Dnssec,
  success: 200,
  conditional: true,
})

export const rollOverDnssecKeyRoute = route({
  name: 'rollOverDnssecKey',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/zones/{zone}/dnssec/rollover',
  summary: 'Roll over the DNSSEC key',
  description:
    'Replaces the key without an interruption: the new one is published and signs beside the old one, the parent gets its DS record, ' +
    'and the old one is removed after all caches have dropped it. `ds_records` are those to enter at the registrar.',
  permission: { ...dnsAdmin, limitedBy: 'whole_zone' },
  params: inZone,
  response: Dnssec,
  success: 202,
  errors: ['forbidden', 'conflict'],
  dryRun: true,
  conditional: true,
  ifMatch: true,
})

export const disableDnssecRoute = route({
  name: 'disableDnssec',
  group: 'DNS',
  method: 'DELETE',
  path: '/v3/dns/zones/{zone}/dnssec',
  summary: 'Disable DNSSEC',
  description:
    'Removes the signatures once no resolver expects them. 409 `ds_present` while the parent has DS records: delete them at the ' +
    'registrar first, or send `request_removal=true`, which publishes CDS records that ask the parent to delete them (RFC 8078). 202 ' +
    'with the status `pending_disabled` while caches may still have the DS or the key; 204 if the zone is unsigned now. With `force=true` ' +
    'it is unsigned at once: resolvers that validate then fail until the caches have expired.',
  permission: { ...dnsAdmin, limitedBy: 'whole_zone' },
  params: inZone,
  query: Strict({
    force: Type.Boolean({ default: false, description: 'at once, although resolvers will fail' }),
    request_removal: Type.Boolean({ default: false, description: 'ask the parent to delete its DS records' }),
  }),
  response: Dnssec,
  success: 202,
  also: { 204: 'the zone is unsigned now' },
  errors: ['forbidden', 'ds_present', 'conflict'],
  dryRun: true,
  conditional: true,
})

export const dnssecRoutes = [enableDnssecRoute, getDnssecRoute, rollOverDnssecKeyRoute, disableDnssecRoute]
