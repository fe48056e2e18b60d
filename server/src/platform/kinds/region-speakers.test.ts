// Which changes of a platform file make a router a former one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NamedSpeaker } from '../../drivers/speakers.ts'
import type { PlatformChange } from '../engine/kind.ts'
import { identitiesOf, lostSpeakers, speakersAfter } from './region-speakers.ts'

const gobgp = { name: 'r1', kind: 'gobgp', address: '192.0.2.1:50051', owner: '64500:1:1' }
const sandbox = { name: 'r1', kind: 'sandbox' }
const other = { name: 'r2', kind: 'gobgp', address: '192.0.2.2:50051', owner: '64500:1:1' }

type After = Readonly<Record<string, readonly NamedSpeaker[]>>

const lost = (before: NamedSpeaker, after: After) =>
  lostSpeakers(new Map([['ams', [before]]]), new Map(Object.entries(after))).map(({ identity }) => identity)

const gobgpLost = ['gobgp 192.0.2.1:50051 64500:1:1']
/** Every setting of a speaker, with another value, and whether the routes of the former one stay behind. */
const settings: Readonly<Record<string, { readonly value: unknown; readonly isLost: boolean }>> = {
  kind: { value: 'sandbox', isLost: true },
  address: { value: '192.0.2.9:50051', isLost: true },
  owner: { value: '64500:1:2', isLost: true },
  name: { value: 'r9', isLost: false },
  next_hop: { value: { ipv4: '192.0.2.200' }, isLost: false },
  tls: { value: { ca_file: '/etc/ca.pem' }, isLost: false },
  insecure: { value: true, isLost: false },
  timeout_ms: { value: 900, isLost: false },
}

for (const [name, { value, isLost }] of Object.entries(settings))
  test(`another ${name} ${isLost ? 'leaves a former router' : 'is the same router'}`, () => {
    assert.deepEqual(lost(gobgp, { ams: [{ ...gobgp, [name]: value }] }), isLost ? gobgpLost : [])
  })

test('a router that is left out is a former one, unless it moves to another region', () => {
  assert.deepEqual(lost(gobgp, { ams: [other] }), gobgpLost)
  assert.deepEqual(lost(gobgp, { ams: [other], fra: [gobgp] }), [])
  assert.deepEqual(lost(sandbox, { ams: [{ ...sandbox, name: 'r2' }] }), ['sandbox ams/r1'])
  assert.deepEqual(lost(gobgp, {}), [], 'a region that is deleted has no routes')
})

test('the speakers after a plan are those of its changes', () => {
  const row = {
    kind: 'region',
    key: 'ams',
    id: 1,
    inUse: null,
    alsoRefersTo: [],
    isPrunable: true,
    setByOwner: [],
    selected: {},
  }
  const of = (change: object) =>
    ({ kind: 'region', row: { ...row, fields: {} }, changes: [], ...change }) as unknown as PlatformChange
  const changes = [
    of({ action: 'create', key: 'fra', fields: { speakers: [other] } }),
    of({ action: 'update', key: 'ams', fields: { name: 'Amsterdam' } }),
    of({ action: 'delete', key: 'lon' }),
    of({ action: 'update', key: 'par', fields: { speakers: [sandbox] } }),
    { ...of({ action: 'create', key: 'zrh', fields: { speakers: [] } }), kind: 'location' } as PlatformChange,
  ]
  const before = new Map([
    ['ams', [gobgp]],
    ['lon', [sandbox]],
    ['par', [gobgp]],
  ])
  const after = speakersAfter(before, changes)
  assert.deepEqual(Object.fromEntries(after), { ams: [gobgp], fra: [other], par: [sandbox] })
  assert.deepEqual(
    [...identitiesOf(after)].toSorted(),
    ['gobgp 192.0.2.1:50051 64500:1:1', 'gobgp 192.0.2.2:50051 64500:1:1', 'sandbox par/r1'].toSorted(),
  )
})
