import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlatformField, PlatformKind } from '@pharos/contract/operator/platform'
import { fieldsOf, parseJson, valuesOf } from './element-form.ts'

const field = (
  name: string,
  type: PlatformField['type'],
  more: Partial<PlatformField> = {},
): PlatformField => ({
  name,
  type,
  required: false,
  is_identity: false,
  nullable: false,
  hint: '',
  choices: [],
  refers_to: null,
  parts: [],
  parts_by: null,
  initial: null,
  ...more,
})

const kind: PlatformKind = {
  section: 'ports',
  kind: 'port',
  is_single: false,
  identity: ['circuit_id'],
  fields: [
    field('circuit_id', 'text', { required: true, is_identity: true }),
    field('speed_bps', 'integer'),
    field('tags', 'texts'),
    field('open', 'boolean', { initial: true }),
    field('verified', 'boolean'),
    field('settings', 'json', { initial: {} }),
    field('secret', 'secret'),
    field('team', 'text', { refers_to: 'teams' }),
    field('service', 'text', { refers_to: 'services', nullable: true }),
  ],
}

test('a new element starts with the defaults, and sends only what has a value', () => {
  const start = fieldsOf(kind)
  assert.deepEqual(start, {
    circuit_id: '',
    speed_bps: '',
    tags: [],
    open: true,
    verified: '',
    settings: '',
    secret: '',
    team: '',
    service: '',
  })
  assert.deepEqual(valuesOf(kind, { ...start, circuit_id: ' A-1 ', verified: 'false', secret: ' s ' }), {
    circuit_id: 'A-1',
    open: true,
    verified: false,
    secret: ' s ',
  })
})

test('an element that was not edited is sent as it was read', () => {
  const values = {
    circuit_id: 'A-1',
    speed_bps: 10,
    tags: ['core'],
    open: false,
    settings: { port: 161 },
    team: 'acme',
    service: 'Transit',
  }
  assert.deepEqual(valuesOf(kind, fieldsOf(kind, { values }), { values }), values)
})

test('a service that is removed from a port ends with its team', () => {
  const values = { circuit_id: 'A-1', open: true, team: 'acme', service: 'Transit' }
  const edited = { ...fieldsOf(kind, { values }), service: '' }
  assert.deepEqual(valuesOf(kind, edited, { values }), { circuit_id: 'A-1', open: true, service: null })
  assert.deepEqual(valuesOf(kind, { ...fieldsOf(kind), circuit_id: 'A-1' }), {
    circuit_id: 'A-1',
    open: true,
  })
})

test('JSON may be a word', () => {
  assert.deepEqual([parseJson('all'), parseJson('["a"]'), parseJson('{')], ['all', ['a'], undefined])
})
