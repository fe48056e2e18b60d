import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { regionCount } from './region-count.ts'

const open = ['ams', 'fra', 'lon']
type States = NonNullable<Announcement['region_states']>
const states = (...announced: readonly string[]): States =>
  open.map((region) => ({
    region,
    state: announced.includes(region) ? 'announced' : 'withdrawn',
  })) as unknown as States
const count = (regions: string[], region_states: States | undefined, enabled = true) =>
  regionCount({ enabled, regions, ...(region_states ? { region_states } : {}) } as Announcement, open)

describe('the regions of an announcement', () => {
  it('are counted in one way: those that announce it, of those that it is meant for', () => {
    assert.equal(count(['ams', 'fra'], states('ams'))?.text, '1 of 2')
    assert.equal(count(['ams', 'fra'], states(), false)?.text, '0 of 2')
    // No region chosen, and never enabled: enabling it uses all regions.
    assert.equal(count([], [], false)?.text, '0 of 3')
    // Enabled before: the server knows in which.
    assert.deepEqual(count([], states(), false), {
      text: '0',
      names: 'Announced in no region. Enabling it uses the regions that were enabled last.',
    })
    // Removed from its regions, and still on a router.
    assert.equal(count(['ams'], states('ams', 'fra'))?.text, '2 of 2')
    assert.equal(count(['ams'], undefined), undefined)
  })
})
