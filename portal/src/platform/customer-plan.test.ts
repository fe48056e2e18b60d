import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slugOf } from '@pharos/contract/slug'
import { changesOf, type NewCustomer } from './customer-plan.ts'
import { formPlace } from './form-change.ts'

const customer: NewCustomer = {
  name: ' Example Bakery ',
  slug: 'example-bakery',
  modules: ['dns'],
  email: 'ann@bakery.example',
  prefixes: ['192.0.2.0/24', '2001:db8::/32'],
  asn: 64496,
  service: 'Transit',
  service_type: 'transit',
  commit_bps: 1_000_000_000,
  circuit_id: 'AMS-1',
  device: 'r1.ams',
  interface: 'et-0/0/1',
}

test('a customer is a team with what it holds, in one request', () => {
  assert.deepEqual(
    changesOf(customer).map(({ change }) => [change.section, change.values]),
    [
      ['teams', { slug: 'example-bakery', name: 'Example Bakery', modules: ['dns'] }],
      ['prefixes', { team: 'example-bakery', prefix: '192.0.2.0/24' }],
      ['prefixes', { team: 'example-bakery', prefix: '2001:db8::/32' }],
      ['asns', { team: 'example-bakery', asn: 64496 }],
      ['services', { team: 'example-bakery', name: 'Transit', type: 'transit', commit_bps: 1_000_000_000 }],
      [
        'ports',
        {
          circuit_id: 'AMS-1',
          device: 'r1.ams',
          interface: 'et-0/0/1',
          team: 'example-bakery',
          service: 'Transit',
        },
      ],
    ],
  )
})

test('what is left empty is not created', () => {
  const empty = { ...customer, prefixes: [], asn: '', service: '', circuit_id: '' } as const
  assert.deepEqual(
    changesOf(empty).map(({ change }) => change.section),
    ['teams'],
  )
})

test('an error is at the field of the form', () => {
  const changes = changesOf(customer)
  assert.deepEqual(formPlace(changes, ['body', 'changes', 2, 'values', 'prefix']), ['body', 'prefixes'])
  assert.deepEqual(formPlace(changes, ['body', 'changes', 0]), ['body', 'slug'])
  assert.deepEqual(formPlace(changes, ['body', 'changes']), ['body', 'changes'])
})

test('the short name follows from the name', () => {
  assert.equal(slugOf('  Bäckerei Müller & Söhne '), 'backerei-muller-sohne')
  assert.equal(slugOf('Acme, Inc.'), 'acme-inc')
})
