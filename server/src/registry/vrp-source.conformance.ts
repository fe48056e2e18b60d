// The conformance suite of the port VrpSource, run on RTR caches, simulated and real, and on exports. It uses the port only; the
// fixture sets the VRPs of the other side.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parsePrefix } from '../net/prefix.ts'
import type { Vrp } from './objects/vrp.ts'
import type { TouchedPrefixes, VrpSource } from './vrp-source.ts'
import { until } from '../../../lab/src/wait.ts'

export type VrpSourceFixture = {
  /** Not started; it polls for changes several times a second, or is notified. Confirms a loss after a second. */
  readonly source: VrpSource
  /** Replaces the VRPs of the other side. */
  setVrps(vrps: readonly Vrp[]): Promise<void>
  /** Makes the other side unreachable, and reachable again. */
  hide(): Promise<void>
  show(): Promise<void>
  stop(): Promise<void>
}

/** Runs the suite; `make` starts one other side for all of it. `skip`: the reason to skip it. */
export function vrpSourceConformance(
  name: string,
  make: () => Promise<VrpSourceFixture>,
  skip: string | false = false,
): void {
  describe(`the VRP source ${name}`, { skip }, () => {
    let fixture: VrpSourceFixture
    let source: VrpSource
    let touched: TouchedPrefixes[] = []
    before(async () => {
      fixture = await make()
      source = fixture.source
      source.onChange((one) => touched.push(one))
      await fixture.setVrps([first, second])
    })
    after(async () => {
      await source?.stop?.()
      await fixture?.stop()
    })

    const covering = (prefix: string): readonly Vrp[] =>
      source.current()?.table.judge(parsePrefix(prefix), 1).covering ?? []
    /** Sets the VRPs and waits until the source notifies of a change. */
    const set = async (vrps: readonly Vrp[]): Promise<TouchedPrefixes> => {
      touched = []
      await fixture.setVrps(vrps)
      await until(() => touched.length > 0)
      return touched[0]!
    }

    it('has nothing before it is started, and reports that', () => {
      assert.ok(source.name.length > 0)
      assert.match(source.label, /^[^/:]+$/)
      assert.equal(source.current(), undefined)
      const { state, vrps, asOf, expires, problem } = source.status()
      assert.deepEqual([state, vrps, asOf, expires], ['unavailable', 0, null, null])
      assert.ok(problem !== null)
    })

    it('has the complete set soon after, and notifies that all prefixes are touched', async () => {
      const began = Date.now()
      await source.start?.()
      await until(() => source.current())
      assert.deepEqual([covering('192.0.2.0/24'), covering('2001:db8::/48')], [[first], [second]])
      // A cache that has not read its VRPs yet may have an empty set first, which touches nothing.
      assert.deepEqual(
        touched.filter((one) => one.length > 0),
        ['all'],
      )
      const { state, vrps, asOf, expires, problem } = source.status()
      assert.deepEqual([state, vrps, problem], ['current', 2, null])
      assert.ok(asOf!.getTime() >= began && asOf!.getTime() <= Date.now() && expires! > asOf!)
    })

    it('notifies of the prefixes that a change touches, and no others', async () => {
      assert.deepEqual(sorted(await set([first, third])), ['198.51.100.0/24', '2001:db8::/32'])
      assert.deepEqual([covering('2001:db8::/32'), covering('198.51.100.0/25')], [[], [third]])
      assert.deepEqual(await set([{ ...first, maxLength: 25 }, third]), ['192.0.2.0/24'])
      assert.equal(source.current()!.table.judge(parsePrefix('192.0.2.0/25'), 64500).state, 'valid')
    })

    it('does not notify if only the order changed', async () => {
      touched = []
      await fixture.setVrps([third, { ...first, maxLength: 25 }])
      await sleep(1_500)
      assert.deepEqual([touched, source.status().vrps], [[], 2])
    })

    it('keeps its set while the other side is unreachable, and follows it again', async () => {
      const { asOf } = source.current()!
      await fixture.hide()
      await until(() => source.status().problem !== null)
      assert.deepEqual([covering('198.51.100.0/24'), source.status().state], [[third], 'current'])
      assert.ok(source.current()!.asOf.getTime() - asOf.getTime() < 60_000)
      touched = []
      await fixture.setVrps([second])
      await fixture.show()
      await until(() => touched.length > 0 && source.status().problem === null)
      assert.deepEqual(sorted(touched[0]!), ['192.0.2.0/24', '198.51.100.0/24', '2001:db8::/32'])
      assert.deepEqual([covering('2001:db8::/32'), covering('198.51.100.0/24')], [[second], []])
    })

    it('keeps its set with its age while it receives an empty set, and reports that', async () => {
      const { asOf } = source.current()!
      touched = []
      await fixture.setVrps([])
      await until(() => source.suspicion())
      assert.deepEqual([source.suspicion()!.table.size, covering('2001:db8::/32')], [0, [second]])
      const { state, vrps, suspicious, problem } = source.status()
      assert.deepEqual([state, vrps, suspicious], ['current', 1, true])
      assert.match(problem!, /^it has 0 VRPs instead of \d; not used until/)
      assert.deepEqual([source.current()!.asOf >= asOf, touched[0]], [true, []])
    })

    it('uses the empty set if it is still empty after the confirmation time', async () => {
      await until(() => touched.some((one) => one.length > 0))
      assert.deepEqual(sorted(touched.find((one) => one.length > 0)!), ['2001:db8::/32'])
      const { state, suspicious, problem } = source.status()
      assert.deepEqual([covering('2001:db8::/32'), state, suspicious, problem], [[], 'current', false, null])
    })

    it('does not notify after its stop, and starts again', async () => {
      await source.stop?.()
      touched = []
      await fixture.setVrps([first])
      await sleep(300)
      assert.deepEqual(touched, [])
      await source.start?.()
      await until(() => covering('192.0.2.0/24').length === 1)
    })
  })
}

const first: Vrp = { prefix: parsePrefix('192.0.2.0/24'), maxLength: 24, asn: 64500 }
const second: Vrp = { prefix: parsePrefix('2001:db8::/32'), maxLength: 48, asn: 4_200_000_000 }
const third: Vrp = { prefix: parsePrefix('198.51.100.0/24'), maxLength: 24, asn: 0 }

function sorted(touched: TouchedPrefixes): readonly string[] {
  return touched === 'all' ? ['all'] : [...touched].sort()
}
