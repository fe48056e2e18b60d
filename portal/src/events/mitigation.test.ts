import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EventSignal } from '@pharos/contract/analysis'
import { mitigationOf } from './mitigation.ts'

const sample = (at: string, ...signals: EventSignal[]) => ({ at, signals })

it('mitigation is unknown unless the detector reports it, and has the time since which it does', () => {
  assert.deepEqual(mitigationOf({ status: ['EVENT_ONGOING'], parsed_data: {} }), {
    state: 'unknown',
    since: undefined,
    actions: [],
  })
  const timeline = [
    sample('1', 'mitigation_active'),
    sample('2', 'mitigation_ended'),
    sample('3', 'ongoing'),
    sample('4', 'ongoing', 'mitigation_active'),
    sample('5', 'mitigation_active'),
  ]
  const parsed_data = { timeline, mitigation: { actions: ['Blackhole'] } }
  assert.deepEqual(mitigationOf({ status: ['EVENT_ONGOING', 'MITIGATION_ACTIVE'], parsed_data }), {
    state: 'active',
    since: '4',
    actions: ['Blackhole'],
  })
  assert.equal(mitigationOf({ status: ['MITIGATION_ENDED'], parsed_data: {} }).since, undefined)
  assert.equal(
    mitigationOf({ status: ['MITIGATION_ENDED'], parsed_data: { timeline: timeline.slice(0, 2) } }).since,
    '2',
  )
})
