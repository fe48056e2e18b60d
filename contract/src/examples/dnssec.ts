// Examples of DNSSEC: enabling it, the DS records to enter at the registrar, a rollover, and disabling it.
import {
  disableDnssecRoute,
  enableDnssecRoute,
  getDnssecRoute,
  rollOverDnssecKeyRoute,
  type Dnssec,
} from '../dns/dnssec.ts'
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'

const inZone = { params: { zone: 'lindholm.example' } }

const ds = [
  '34217 13 2 5f0c2e3b7c9a4c1d8e6f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f',
  '34217 13 4 1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a',
]

const disabled: Dnssec = {
  status: 'disabled',
  algorithm: null,
  signer: 'pharos',
  nsec3: false,
  keys: [],
  ds_records: [],
  publish_after: null,
  parent: { ds_present: false, ds_matches: false, ds_records: [], checked: '2026-04-01T09:04:31.204Z' },
  cds_published: false,
  next_rollover: null,
  unsigned_after: null,
  reason: null,
}

const signing: Dnssec = {
  ...disabled,
  status: 'signing',
  algorithm: 'ECDSAP256SHA256',
  keys: [
    {
      id: 51,
      key_tag: 34_217,
      flags: 257,
      keytype: 'csk',
      algorithm: 'ECDSAP256SHA256',
      dnskey:
        '257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==',
      ds,
      managed: true,
      active: true,
      state: 'introduced',
      created: '2026-04-01T09:30:12.004Z',
    },
  ],
  ds_records: ds,
  publish_after: '2026-04-01T10:30:12.000Z',
  reason: 'Not all name servers serve the signed zone yet.',
}

const active: Dnssec = {
  ...signing,
  status: 'active',
  keys: signing.keys.map((key) => ({ ...key, state: 'active' as const })),
  publish_after: null,
  parent: { ds_present: true, ds_matches: true, ds_records: ds, checked: '2026-04-02T09:04:31.204Z' },
  cds_published: true,
  reason: null,
}

const next = [
  '50128 13 2 c1d2e3f405162738495a6b7c8d9eaf0b1c2d3e4f5061728394a5b6c7d8e9fa0b',
  '50128 13 4 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9',
]
const rolling: Dnssec = {
  ...active,
  keys: [
    ...active.keys,
    {
      ...signing.keys[0]!,
      id: 52,
      key_tag: 50_128,
      dnskey:
        '257 3 13 oJMRESz5E4gYzS/q6XDrvU1qMPYIjCWzJaOau8XNEZeqCYKD5ar0IRd8KqXXFJkqmVfRvMGPmM1x8fGAa2XhSA==',
      ds: next,
      created: '2026-04-20T08:00:00.000Z',
    },
  ],
  reason: 'Not all name servers serve the signed zone yet.',
}

const disabling: Dnssec = {
  ...active,
  status: 'pending_disabled',
  ds_records: [],
  unsigned_after: null,
  reason: 'The parent still has DS records. Delete them at the registrar.',
}

export const dnssecExamples = [
  example(enableDnssecRoute, {
    ...inZone,
    body: { algorithm: 'ECDSAP256SHA256' },
    response: signing,
    changes: changesBetween(disabled, signing),
  }),
  example(getDnssecRoute, { ...inZone, response: active }),
  example(rollOverDnssecKeyRoute, { ...inZone, response: rolling, changes: changesBetween(active, rolling) }),
  example(disableDnssecRoute, {
    ...inZone,
    query: { request_removal: true },
    response: disabling,
    changes: changesBetween(active, disabling),
  }),
]
