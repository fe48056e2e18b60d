import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EventSignal } from '@pharos/contract/events/event'
import { mitigationOf } from './mitigation.ts'

const sample = (at: string, ...signals: EventSignal[]) => ({ at, signals })
const timeline = [
  sample('1', 'mitigation_active'),
  sample('2', 'mitigation_ended'),
  sample('3', 'ongoing'),
  sample('4', 'ongoing', 'mitigation_active'),
  sample('5', 'mitigation_active'),
]

it('mitigation is unknown unless somebody has one, and has the time since which the detector reports it', () => {
  assert.deepEqual(mitigationOf({ status: ['EVENT_ONGOING'], parsed_data: {} }), {
    state: 'unknown',
    by: [],
    share: null,
    actions: [],
  })
  const parsed_data = { timeline, mitigation: { actions: ['Blackhole'] } }
  assert.deepEqual(mitigationOf({ status: ['EVENT_ONGOING', 'MITIGATION_ACTIVE'], parsed_data }), {
    state: 'active',
    by: [{ source: 'detector', since: '4' }],
    share: null,
    actions: ['Blackhole'],
  })
  assert.deepEqual(mitigationOf({ status: ['MITIGATION_ENDED'], parsed_data: {} }).by, [
    { source: 'detector', since: undefined },
  ])
  assert.deepEqual(
    mitigationOf({ status: ['MITIGATION_ENDED'], parsed_data: { timeline: timeline.slice(0, 2) } }).by,
    [{ source: 'detector', since: '2' }],
  )
})

it('mitigation by own rules has their time, beside that of a detector which reports the same', () => {
  const marks = [{ mark: 'MITIGATION_ACTIVE' as const, since: '9' }]
  const own = { source: 'rules', since: '9' }
  const measured = { ...marks[0]!, share_bytes: 0.5, share_packets: 0.999, source: 'flows' as const }
  const status = ['EVENT_ONGOING' as const, 'MITIGATION_ACTIVE' as const]
  assert.deepEqual(mitigationOf({ status, parsed_data: {}, marks }).by, [own])
  assert.equal(mitigationOf({ status, parsed_data: {}, marks: [measured] }).share, 0.999)
  assert.deepEqual(mitigationOf({ status, parsed_data: { timeline: timeline.slice(0, 2) }, marks }).by, [own])
  assert.deepEqual(mitigationOf({ status, parsed_data: { timeline }, marks }).by, [
    own,
    { source: 'detector', since: '4' },
  ])
})
