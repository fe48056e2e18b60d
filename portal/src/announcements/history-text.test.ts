import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HistoryEntry } from '@pharos/contract/byoip/announcement-checks'
import { actorName, kindGroups, describeEntry } from './history-text.ts'
import { regionReasons } from '@pharos/contract/reason/region-reason'
import { nextStep } from './next-step.ts'

const entry = (rest: Partial<HistoryEntry>): HistoryEntry => ({
  id: 1,
  at: '2026-03-01T12:00:00.000Z',
  kind: 'created',
  region: null,
  actor: 'user:7',
  detail: {},
  took_ms: null,
  ...rest,
})

describe('the history of an announcement as text', () => {
  it('names the region of an announcement and the result of a check', () => {
    assert.equal(describeEntry(entry({ kind: 'announced', region: 'ams' })).text, 'Announced in ams')
    const detail = { name: 'rpki', before: 'valid', after: 'mismatch_asn', note: 'Another origin.' }
    assert.deepEqual(describeEntry(entry({ kind: 'validation', detail })), {
      text: 'ROA (RPKI): mismatch asn',
      color: 'warn',
      note: 'Another origin.',
    })
  })

  it('names what an update changed', () => {
    const text = (kind: HistoryEntry['kind'], detail: HistoryEntry['detail']) =>
      describeEntry(entry({ kind, detail })).text
    assert.equal(
      text('updated', { regions: ['ams', 'fra'], fields: ['description', 'as_set'] }),
      'Changed: regions ams, fra; description; AS-SET',
    )
    assert.equal(text('updated', { regions: [] }), 'Changed: no regions')
    assert.equal(text('enabled', { regions: ['ams', 'fra'] }), 'Enabled in ams, fra')
  })

  it('shows an unknown kind with all of its details', () => {
    assert.deepEqual(
      describeEntry(entry({ kind: 'moved_away' as never, region: 'fra', detail: { to: 'lon' } })),
      {
        text: 'moved away in fra',
        color: 'idle',
        note: '{"to":"lon"}',
      },
    )
  })

  it('has a text for every kind in the filter', () => {
    for (const kind of Object.values(kindGroups).flat())
      assert.notEqual(describeEntry(entry({ kind })).text, kind.replaceAll('_', ' '), kind)
  })

  it('names the actor if it is known', () => {
    const names = new Map([['user:7', 'Ada']])
    assert.equal(actorName('user:7', names), 'Ada')
    assert.equal(actorName('user:8', names), 'user:8')
    assert.equal(actorName('operator', names), 'the provider')
  })
})

describe('the next step in a region', () => {
  it('is undefined if the state is as desired', () => {
    assert.equal(nextStep({ state: 'announced', desired: true, reason: null }), undefined)
    assert.equal(nextStep({ state: 'withdrawn', desired: false, reason: null }), undefined)
  })

  it('is a separate text for every reason of the server', () => {
    const steps = regionReasons.map((reason) => nextStep({ state: 'withdrawing', desired: false, reason }))
    assert.ok(steps.every(Boolean))
    assert.equal(new Set(steps).size, steps.length)
  })

  it('is shown while no reason is known yet', () => {
    assert.ok(nextStep({ state: 'withdrawing', desired: false, reason: null }))
    assert.ok(nextStep({ state: 'announcing', desired: true, reason: null }))
  })
})
