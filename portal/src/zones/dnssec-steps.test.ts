import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Dnssec } from '@pharos/contract/dns/dnssec'
import { dsParts, stepsOf } from './dnssec-steps.ts'

const dnssec = (changes: Partial<Dnssec>): Dnssec => ({
  status: 'signing',
  algorithm: 'ECDSAP256SHA256',
  signer: 'pharos',
  nsec3: false,
  keys: [{}] as Dnssec['keys'],
  ds_records: ['12345 13 2 AA BB'],
  publish_after: null,
  parent: { ds_present: null, ds_matches: null, ds_records: [], checked: null },
  cds_published: true,
  next_rollover: null,
  unsigned_after: null,
  reason: null,
  ...changes,
})
const parent = { ds_present: true, ds_matches: true, ds_records: ['x'], checked: null }
const states = (changes: Partial<Dnssec>, isServed = false) =>
  stepsOf(dnssec(changes), isServed).map(({ state }) => state)

it('shows the way of DNSSEC, and where it waits for a person', () => {
  assert.deepEqual(states({}), ['done', 'now', 'next', 'next'])
  // The name servers have it; resolvers may still have unsigned answers.
  assert.deepEqual(states({ publish_after: '2026-01-01T00:00:00Z' }, true), ['done', 'done', 'now', 'next'])
  assert.deepEqual(states({ keys: [] }, true), ['now', 'now', 'next', 'next'])
  assert.deepEqual(states({ status: 'pending_ds' }), ['done', 'done', 'warn', 'next'])
  assert.deepEqual(states({ status: 'pending_ds', publish_after: '2026-01-01T00:00:00Z' }), [
    'done',
    'done',
    'now',
    'next',
  ])
  assert.deepEqual(states({ status: 'active', parent }), ['done', 'done', 'done', 'done'])
  // The parent does not answer.
  assert.deepEqual(states({ status: 'active' }), ['done', 'done', 'done', 'done'])
  assert.deepEqual(states({ status: 'error' }), ['done', 'done', 'bad', 'bad'])
  assert.deepEqual(states({ status: 'disabled' }), [])
})

it('shows the way back, with the time until which resolvers may expect signatures', () => {
  const status = 'pending_disabled'
  assert.deepEqual(states({ status, parent }), ['warn', 'next', 'next'])
  assert.deepEqual(states({ status }), ['now', 'next', 'next'])
  const gone = { ...parent, ds_present: false, ds_matches: false, ds_records: [] }
  const steps = stepsOf(dnssec({ status, parent: gone, unsigned_after: '2026-01-01T00:00:00Z' }), true)
  assert.deepEqual(
    steps.map(({ state, at }) => [state, at]),
    [
      ['done', undefined],
      ['now', '2026-01-01T00:00:00Z'],
      ['next', undefined],
    ],
  )
})

it('splits a DS record as registrars ask for it', () => {
  assert.deepEqual(dsParts('12345 13 2 AABB CCDD'), {
    keyTag: '12345',
    algorithm: '13 (ECDSA P-256)',
    digestType: '2 (SHA-256)',
    digest: 'AABBCCDD',
  })
})
