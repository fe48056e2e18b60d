import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { CollectorView } from './collector-view.ts'
import type { AsPath } from './visibility-source.ts'

const prefix = parsePrefix('203.0.113.0/24')
const inner = parsePrefix('203.0.113.64/26')
const six = parsePrefix('2001:db8::/32')
const at = (second: number): Date => new Date(1_700_000_000_000 + second * 1000)

function viewOf(prefixes: readonly Prefix[] = [prefix], limits = {}): CollectorView {
  const view = new CollectorView({ ourAsn: 64500, ...limits })
  view.setPrefixes(prefixes)
  return view
}

const put = (view: CollectorView, collector: string, path: AsPath | null, second = 0, of = prefix) =>
  view.update({ prefix: of, collector, path, at: at(second) })

const originsOf = (view: CollectorView, of = prefix) =>
  view
    .read(of)
    .states.map(({ origin }) => origin)
    .toSorted()

describe('the view of the collectors', () => {
  it('has the last origin of each collector, and since when', () => {
    const view = viewOf()
    put(view, '192.0.2.1', [1, 64500, 64496], 10)
    put(view, '192.0.2.1', [1, 7, 64500, 64496], 20)
    put(view, '192.0.2.2', [2, 64511], 30)
    assert.deepEqual(view.read(prefix).states, [
      { origin: 64496, isOurs: true, atMs: at(10).getTime() },
      { origin: 64511, isOurs: false, atMs: at(30).getTime() },
    ])
    put(view, '192.0.2.1', null, 40)
    assert.deepEqual(originsOf(view), [0, 64511])
  })

  it('counts collectors per family, of every prefix that was reported', () => {
    const view = viewOf([prefix, six])
    put(view, '192.0.2.1', [1], 0, parsePrefix('198.51.100.0/24'))
    put(view, '2001:db8::1', [1], 0, six)
    put(view, '192.0.2.2', null)
    assert.deepEqual([view.collectors(4), view.collectors(6)], [2, 1])
    assert.equal(view.size, 2)
  })

  it('attributes a prefix inside an announced one to the nearest, until it is announced itself', () => {
    const view = viewOf()
    put(view, '192.0.2.1', [1, 64511], 0, inner)
    assert.deepEqual(
      view.read(prefix).moreSpecifics.map((one) => one.prefix),
      [inner],
    )
    view.setPrefixes([prefix, inner])
    assert.deepEqual([view.read(prefix).moreSpecifics, view.size], [[], 0])
    put(view, '192.0.2.1', [1, 64511], 5, inner)
    assert.deepEqual(originsOf(view, inner), [64511])
    assert.deepEqual(view.read(prefix).moreSpecifics, [])
  })

  it('drops a prefix inside an announced one when no collector has it', () => {
    const view = viewOf()
    put(view, '192.0.2.1', [1, 64511], 0, inner)
    put(view, '192.0.2.2', null, 1, inner)
    put(view, '192.0.2.1', null, 2, inner)
    assert.deepEqual([view.read(prefix).moreSpecifics, view.size], [[], 0])
  })

  it('is complete after a table, and withdraws what the table does not have', () => {
    const view = viewOf()
    put(view, '192.0.2.1', [1, 64496], 10)
    put(view, '192.0.2.3', [3, 64496], 90)
    assert.equal(view.read(prefix).isComplete, false)
    view.table(prefix, [{ collector: '192.0.2.2', path: [2, 64496] }], at(60))
    assert.equal(view.read(prefix).isComplete, true)
    // The third is newer than the table.
    assert.deepEqual(originsOf(view), [0, 64496, 64496])
  })

  it('is complete if the prefix was followed before it was announced, not if after', () => {
    const announcedAt = (second: number) => ({ kind: 'announced', at: at(second) }) as const
    const view = viewOf()
    view.noteChange(prefix, announcedAt(5))
    assert.equal(view.read(prefix).isComplete, false, 'not followed')
    view.followed(prefix, at(10))
    view.noteChange(prefix, announcedAt(5))
    view.noteChange(prefix, { kind: 'withdrawn', at: at(20) })
    assert.equal(view.read(prefix).isComplete, false)
    view.noteChange(prefix, announcedAt(30))
    assert.equal(view.read(prefix).isComplete, true)
  })

  it('knows nothing after a gap except the collectors', () => {
    const view = viewOf()
    view.followed(prefix, at(0))
    view.table(prefix, [{ collector: '192.0.2.1', path: [1, 64496] }], at(1))
    const before = view.versionOf(prefix)
    view.gap()
    const { states, isComplete, sinceMs } = view.read(prefix)
    assert.deepEqual([states, isComplete, sinceMs, view.size], [[], false, undefined, 0])
    assert.equal(view.collectors(4), 1)
    assert.notEqual(view.versionOf(prefix), before)
  })

  it('forgets a collector whose session has ended', () => {
    const view = viewOf()
    put(view, '192.0.2.1', [1, 64496])
    put(view, '192.0.2.1', [1, 64511], 0, inner)
    view.collectorDown('192.0.2.1')
    assert.deepEqual([originsOf(view), view.collectors(4), view.size], [[], 0, 0])
    assert.deepEqual(view.read(prefix).moreSpecifics, [])
  })

  it('is bounded, and reports what it left out', () => {
    const view = viewOf([prefix], { routesMax: 2, collectorsMax: 3, moreSpecificsMax: 1 })
    for (let n = 1; n <= 9; n++) put(view, `192.0.2.${n}`, [n, 64496])
    assert.deepEqual([view.size, view.collectors(4)], [2, 3])
    assert.equal(view.read(prefix).isTruncated, true)
    const other = viewOf([prefix], { moreSpecificsMax: 1 })
    for (let n = 0; n < 8; n++) put(other, '192.0.2.1', [1, 64511], 0, parsePrefix(`203.0.113.${n * 8}/29`))
    assert.deepEqual([other.size, other.read(prefix).isTruncated], [1, true])
  })

  it('has another version once it leaves something out', () => {
    const view = viewOf([prefix], { moreSpecificsMax: 1 })
    put(view, '192.0.2.1', [1, 64511], 0, parsePrefix('203.0.113.0/29'))
    const before = view.versionOf(prefix)
    put(view, '192.0.2.1', [1, 64511], 0, parsePrefix('203.0.113.8/29'))
    assert.notEqual(view.versionOf(prefix), before)
  })

  it('does not depend on repetitions, or on the order between collectors', () => {
    const event = fc.record({
      collector: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
      path: fc.constantFrom(null, [1, 64500, 64496], [1, 64496], [1, 64511]),
      of: fc.constantFrom(prefix, inner),
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const timed = events.map((one, second) => ({ ...one, second }))
        const play = (list: typeof timed) => {
          const view = viewOf()
          for (const { collector, path, second, of } of list) put(view, collector, path, second, of)
          const { states, moreSpecifics } = view.read(prefix)
          const stored = states.length + moreSpecifics.reduce((sum, one) => sum + one.states.length, 0)
          assert.equal(view.size, stored)
          const sorted = (list: typeof states) => list.map((one) => JSON.stringify(one)).toSorted()
          const seen = moreSpecifics.map((one) => sorted(one.states.filter(({ origin }) => origin !== 0)))
          return [sorted(states), seen]
        }
        const byCollector = timed.toSorted((a, b) =>
          a.collector < b.collector ? -1 : a.collector > b.collector ? 1 : 0,
        )
        assert.deepEqual(play(byCollector), play(timed))
        assert.deepEqual(play(timed.flatMap((one) => [one, one])), play(timed))
      }),
    )
  })
})
