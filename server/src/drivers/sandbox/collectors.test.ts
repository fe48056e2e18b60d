import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollectorView } from '../../byoip/visibility/collector-view.ts'
import { visibilitySourceConformance } from '../../byoip/visibility/visibility-source.conformance.ts'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { createLog } from '../../runtime/log.ts'
import { visibilityDrivers } from '../visibility-sources.ts'

const log = createLog({ logLevel: 'silent', logFormat: 'json' })
const prefix = parsePrefix('203.0.113.0/24')
const origin = parseAsn(64496)
const start = new Date('2026-03-01T10:00:00Z')

visibilitySourceConformance('sandbox', async () => {
  const [source] = visibilityDrivers.createAll(['sandbox:20'], { log, ourAsn: null, now: () => new Date() })
  // The simulated collectors follow our routers, so that the suite's own changes are the other side.
  return { source: source!, announce: async () => {}, withdraw: async () => {}, stop: async () => {} }
})

describe('the simulated collectors', () => {
  const simulate = (url: string) => {
    let nowMs = start.getTime()
    const [source] = visibilityDrivers.createAll([url], { log, ourAsn: 64500, now: () => new Date(nowMs) })
    const view = new CollectorView({ ourAsn: 64500 })
    view.setPrefixes([prefix])
    source!.connect(view)
    void source!.start?.()
    const play = (kind: 'announced' | 'withdrawn', minutes: number) => {
      const at = new Date(nowMs)
      nowMs += minutes * 60_000
      source!.follow([{ prefix, originAsn: origin, change: { kind, at } }])
      return view.read(prefix).states.filter((state) => state.origin === origin && state.isOurs).length
    }
    return { view, play }
  }

  it('learn of an announcement one after the other, and most of them in the end', () => {
    const { view, play } = simulate('sandbox:300')
    const early = play('announced', 0.2)
    assert.ok(early > 20 && early < 200, String(early))
    const late = simulate('sandbox:300').play('announced', 10)
    assert.ok(late > 270 && late < 300, String(late))
    assert.equal(view.collectors(4), 300)
  })

  it('lose a withdrawn route, except a few that of the stuck prefix', () => {
    const normal = simulate('sandbox:300')
    normal.play('announced', 10)
    assert.equal(normal.play('withdrawn', 10), 0)
    const stuck = simulate(`sandbox:300?stuck=${prefix}`)
    stuck.play('announced', 10)
    const left = stuck.play('withdrawn', 10)
    assert.ok(left >= 3 && left < 30, String(left))
    // The same after a restart of the process.
    assert.equal(simulate(`sandbox:300?stuck=${prefix}`).play('withdrawn', 10), left)
  })
})
