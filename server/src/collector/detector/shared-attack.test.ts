import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Detection } from './detection.ts'
import { nextAttack, type SharedAttack } from './shared-attack.ts'

const time = (second: number): string => new Date(1_800_000_000_000 + second * 1000).toISOString()

type Report = Pick<Detection, 'id' | 'network' | 'direction' | 'status' | 'start' | 'end' | 'observed'>

const network = '203.0.113.7/32'

const report = (collector: string, start: number, observed: number, end?: number): Report => ({
  id: `${collector} ${start}`,
  network,
  direction: 'incoming',
  status: end === undefined ? 'ongoing' : 'ended',
  start: time(start),
  observed: time(observed),
  ...(end === undefined ? {} : { end: time(end) }),
})

/** The reports of one attack: every ten seconds, then the end. */
const reportsOf = (collector: string, start: number, end: number): Report[] => [
  ...Array.from({ length: Math.floor((end - start) / 10) }, (_, i) =>
    report(collector, start, start + 3 + i * 10),
  ),
  report(collector, start, end + 60, end),
]

/** Stores reports in their order; returns the ids under which they were stored, with the collector. */
function store(reports: readonly (readonly [string, Report])[]) {
  let attack: SharedAttack | undefined
  const stored: { id: string; collector: string; observed: string; status: string }[] = []
  for (const [collector, one] of reports) {
    const next = nextAttack(attack, one, collector)
    if (!next) continue
    attack = next
    stored.push({ id: next.id, collector, observed: one.observed, status: one.status })
  }
  return stored
}

describe('reports of several collectors about one network', () => {
  it('are one event of each attack, and one report of each interval', () => {
    const of = (collector: string, late: number) =>
      [...reportsOf(collector, 0 + late, 100), ...reportsOf(collector, 400 + late, 500)].map(
        (one) => [collector, one] as const,
      )
    const all = [...of('a', 0), ...of('b', 4)].sort(([, a], [, b]) => a.observed.localeCompare(b.observed))
    const stored = store(all)
    assert.deepEqual([...new Set(stored.map(({ id }) => id))], ['a 0', 'a 400'])
    assert.ok(stored.every(({ collector }) => collector === 'a'))
    assert.equal(stored.filter(({ status }) => status === 'ended').length, 2)
  })

  it('that waited on the disks of collectors are one event, in any order of collectors', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 2, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        (delays, choices) => {
          const queues = delays.map((delay, index) =>
            reportsOf(`c${index}`, delay, 600).map((one) => [`c${index}`, one] as const),
          )
          const order: (readonly [string, Report])[] = []
          for (;;) {
            const open = queues.filter((queue) => queue.length > 0)
            if (open.length === 0) break
            order.push(open[choices.next().value! % open.length]!.shift()!)
          }
          const stored = store(order)
          assert.equal(new Set(stored.map(({ id }) => id)).size, 1)
          assert.ok(stored.some(({ status }) => status === 'ended'))
          assert.deepEqual(store(order), stored)
        },
      ),
    )
  })

  it('are continued under the same id by another collector, also after a restart', () => {
    const dead = reportsOf('a', 0, 300).slice(0, 5)
    const other = reportsOf('b', 2, 300)
    const ids = store([...dead.map((one) => ['a', one] as const), ...other.map((one) => ['b', one] as const)])
    assert.deepEqual([...new Set(ids.map(({ id }) => id))], ['a 0'])
    assert.deepEqual(ids.at(-1)!.collector, 'b')
    assert.equal(ids.at(-1)!.status, 'ended')
  })

  it('are another event after the former one was ended for silence', () => {
    const ids = store([
      ['a', report('a', 0, 10)],
      ['b', report('b', 900, 910)],
    ])
    assert.deepEqual(
      ids.map(({ id }) => id),
      ['a 0', 'b 900'],
    )
  })

  it('are another event for a collector that was cut off when the others saw the end', () => {
    const reports = [
      ...[3, 13].map((second) => ['a', report('a', 0, second)] as const),
      ...[53, 63].map((second) => ['b', report('b', 5, second)] as const),
      ['b', report('b', 5, 160, 100)] as const,
      ...[23, 153, 173, 193, 203].map((second) => ['a', report('a', 0, second)] as const),
      ['a', report('a', 0, 360, 300)] as const,
    ]
    assert.deepEqual(
      store(reports)
        .slice(5)
        .map(({ id, observed }) => [id, observed]),
      [193, 203, 360].map((second) => [`${network}|${time(193)}`, time(second)]),
    )
  })
})
