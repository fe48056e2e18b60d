import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { AnnouncementStatus } from '@pharos/contract/byoip/announcement'
import { countsByRegion, deviationsByRegion, urgentFirst } from './prefix-counts.ts'

it('prefixes are counted in each region whose routers have them, wherever they are to be', () => {
  const at = (region: string, state: string) => ({ region, desired: true, state }) as never
  const counts = countsByRegion([
    { region_states: [at('ams', 'announced'), at('fra', 'withdrawing')] },
    { region_states: [at('ams', 'announced'), at('lon', 'withdrawn')] },
    {},
  ])
  assert.deepEqual(
    [...counts],
    [
      ['ams', 2],
      ['fra', 1],
    ],
  )
})

it('announcements that failed come first, then those that are announced, then the rest', () => {
  const rows = (['withdrawn', 'announced', 'error', 'ready', 'suspended'] as AnnouncementStatus[]).map(
    (status) => ({
      status,
    }),
  )
  assert.deepEqual(
    urgentFirst(rows, 4).map(({ status }) => status),
    ['error', 'suspended', 'announced', 'withdrawn'],
  )
})

it('a region deviates where its routers differ from what was asked for', () => {
  const at = (region: string, desired: boolean, state: string) => ({ region, desired, state }) as never
  const list = [
    {
      region_states: [at('ams', true, 'announced'), at('fra', true, 'error'), at('lon', false, 'withdrawn')],
    },
    { region_states: [at('ams', false, 'announced'), at('fra', true, 'announcing')] },
    {},
  ]
  assert.deepEqual(
    [...deviationsByRegion(list)],
    [
      ['fra', 2],
      ['ams', 1],
    ],
  )
})
