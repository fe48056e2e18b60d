import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlatformField } from '@pharos/contract/operator/platform'
import { partAt, partsFor, trimmed, withKind, withPart } from './element-parts.ts'

const part = (name: string, of: string | null = null) => ({
  name,
  of,
  type: 'text' as const,
  required: false,
  hint: '',
  choices: [],
})
const field = {
  parts: [part('name'), part('kind'), part('address', 'gobgp'), part('next_hop.ipv4', 'gobgp')],
} as unknown as PlatformField

test('an object has the parts of its kind', () => {
  assert.deepEqual(
    partsFor(field, 'gobgp').map(({ name }) => name),
    ['name', 'kind', 'address', 'next_hop.ipv4'],
  )
  assert.deepEqual(
    partsFor(field, 'sandbox').map(({ name }) => name),
    ['name', 'kind'],
  )
})

test('a part of a part is set, read and removed, and others stay', () => {
  const tls = { ca_file: 'ca.pem' }
  const set = withPart({ kind: 'gobgp', tls }, 'next_hop.ipv4', '192.0.2.1')
  assert.deepEqual(set, { kind: 'gobgp', tls, next_hop: { ipv4: '192.0.2.1' } })
  assert.equal(partAt(set, 'next_hop.ipv4'), '192.0.2.1')
  assert.equal(partAt(set, 'next_hop.ipv6'), undefined)
  assert.deepEqual(withPart(set, 'next_hop.ipv4', ''), { kind: 'gobgp', tls })
})

test('another kind keeps only what every kind has', () => {
  const object = { name: 'r1', kind: 'gobgp', address: '127.0.0.1:1', next_hop: { ipv4: '192.0.2.1' } }
  assert.deepEqual(withKind(field, object, 'sandbox'), { kind: 'sandbox', name: 'r1' })
})

test('texts are trimmed at any depth', () => {
  assert.deepEqual(trimmed([{ a: ' b ', c: { d: ' e', g: null }, f: 1 }]), [{ a: 'b', c: { d: 'e' }, f: 1 }])
})
