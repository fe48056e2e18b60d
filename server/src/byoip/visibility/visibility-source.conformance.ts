// The conformance suite of the port VisibilitySource, run on every driver. It uses the port only; the fixture plays the other side:
// the collectors, and the routers whose announcements they see.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { CollectorView } from './collector-view.ts'
import type { FollowedPrefix, VisibilitySource } from './visibility-source.ts'

export type VisibilitySourceFixture = {
  /** Not started; it reports changes within seconds. */
  readonly source: VisibilitySource
  /** At least three collectors have a route for the prefix from now on, with this origin as the last AS of the path. */
  announce(prefix: Prefix, origin: number): Promise<void>
  /** No collector has it any longer. */
  withdraw(prefix: Prefix): Promise<void>
  /** Makes the other side unreachable or its data old, and reachable and new again; undefined if that cannot happen. */
  readonly outage?: { begin(): Promise<void>; end(): Promise<void> }
  stop(): Promise<void>
}

/** Runs the suite; `make` starts one other side for all of it. */
export function visibilitySourceConformance(
  name: string,
  make: () => Promise<VisibilitySourceFixture>,
): void {
  describe(`the visibility source ${name}`, () => {
    const origin = parseAsn(64496)
    const four = parsePrefix('203.0.113.0/24')
    const six = parsePrefix('2001:db8:a::/48')
    const stranger = parsePrefix('198.51.100.0/24')
    let fixture: VisibilitySourceFixture
    let source: VisibilitySource
    let view: CollectorView
    const changes = new Map<Prefix, FollowedPrefix['change']>()

    before(async () => {
      fixture = await make()
      source = fixture.source
      view = new CollectorView({ ourAsn: null })
      view.setPrefixes([four, six])
      source.connect(view)
    })
    after(async () => {
      await source?.stop?.()
      await fixture?.stop()
    })

    /** Like each run of the monitor. */
    const run = () =>
      source.follow(
        [four, six].map((prefix) => ({ prefix, originAsn: origin, change: changes.get(prefix) ?? null })),
      )
    const announce = async (prefix: Prefix) => {
      changes.set(prefix, { kind: 'announced', at: new Date(Date.now() - 600_000) })
      await fixture.announce(prefix, origin)
    }
    const withdraw = async (prefix: Prefix) => {
      changes.set(prefix, { kind: 'withdrawn', at: new Date(Date.now() - 300_000) })
      await fixture.withdraw(prefix)
    }
    const seeing = (prefix: Prefix) =>
      view.read(prefix).states.filter((state) => state.origin === origin).length
    const until = async (isDone: () => unknown): Promise<void> => {
      const endMs = performance.now() + 20_000
      for (run(); !isDone(); run()) {
        if (performance.now() > endMs) throw new Error(`not within 20 s: ${isDone}`)
        await sleep(20)
      }
    }

    it('has nothing before it is started, and reports that', () => {
      assert.ok(source.name.length > 0 && !source.name.includes('@'))
      assert.match(source.label, /^[^/:]+$/)
      const { state, asOf, problem } = source.status()
      assert.deepEqual([state, asOf], ['unavailable', null])
      assert.ok(problem !== null)
      run()
      assert.equal(view.size, 0)
    })

    it('reports the routes of a followed prefix of each family', async () => {
      const began = Date.now()
      await source.start?.()
      await until(() => source.status().state === 'current')
      const { asOf, problem } = source.status()
      assert.ok(problem === null && asOf !== null && asOf.getTime() <= Date.now() && began <= Date.now())
      await announce(four)
      await announce(six)
      await until(() => seeing(four) >= 3 && seeing(six) >= 3)
      assert.ok(view.collectors(4) >= 3 && view.collectors(6) >= 3)
    })

    it('reports nothing of a prefix that is not followed', async () => {
      const { size } = view
      await fixture.announce(stranger, origin)
      await announce(four)
      await until(() => seeing(four) >= 3)
      assert.equal(view.size, size)
      assert.deepEqual(view.read(stranger).states, [])
    })

    it('reports withdrawals', async () => {
      await withdraw(six)
      await until(() => seeing(six) === 0)
      assert.ok(seeing(four) >= 3)
    })

    it('is unavailable during an outage, and reports the new state after it', async (t) => {
      if (!fixture.outage) return t.skip('it has no outages')
      await fixture.outage.begin()
      await until(() => source.status().state === 'unavailable')
      assert.ok(source.status().problem !== null)
      await fixture.outage.end()
      await until(() => source.status().state === 'current')
      await announce(six)
      await until(() => seeing(six) >= 3)
    })

    it('reports nothing after its stop, and starts again', async () => {
      await source.stop?.()
      assert.equal(source.status().state, 'unavailable')
      view.gap()
      await announce(six)
      run()
      await sleep(200)
      assert.equal(view.size, 0)
      await source.start?.()
      await until(() => source.status().state === 'current')
      await announce(four)
      await announce(six)
      await until(() => seeing(four) >= 3 && seeing(six) >= 3)
    })
  })
}
