import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix } from '../net/prefix.ts'
import { areSimilar } from './objects/loss.ts'
import { createRoaTable } from './objects/roa-table.ts'
import { vrpBits } from './objects/vrp.ts'
import type { RoaTable } from './objects/roa-table.ts'
import { createLog, silentLog } from '../runtime/log.ts'
import { createRpki } from './rpki.ts'
import type { Rpki } from './rpki.ts'
import type { CurrentVrps, Suspicion, TouchedPrefixes, VrpSource } from './vrp-source.ts'

const prefix = parsePrefix('192.0.2.0/24')
const asOf = new Date('2026-11-21T00:00:00Z')

describe('the RPKI', () => {
  it('is unavailable without a source, with the reason', () => {
    assert.deepEqual(rpkiOf().judge(prefix, 64500), {
      state: 'unavailable',
      covering: [],
      source: null,
      asOf: null,
      reason: 'no RPKI source is configured',
    })
  })

  it('returns the ROAs that cover the prefix, with their source and age', async () => {
    const source = new FakeSource('a')
    const rpki = rpkiOf(source)
    await rpki.start?.()
    source.set(64500)
    const covering = [{ prefix, maxLength: 24, asn: 64500 }]
    assert.deepEqual(rpki.judge(prefix, 64500), { state: 'valid', covering, source: 'a', asOf })
    assert.deepEqual(rpki.judge(prefix, 64501), { state: 'mismatch_asn', covering, source: 'a', asOf })
    assert.equal(rpki.judge(parsePrefix('192.0.2.0/25'), 64500).state, 'mismatch_length')
    assert.equal(rpki.judge(parsePrefix('198.51.100.0/24'), 64500).state, 'missing')
  })

  it('uses the first source in order that is current, and judges all again when that changes', async () => {
    const [a, b] = [new FakeSource('a'), new FakeSource('b')]
    const rpki = rpkiOf(a, b)
    const touched: TouchedPrefixes[] = []
    rpki.onChange((one) => touched.push(one))
    await rpki.start?.()
    b.set(64501)
    assert.deepEqual([rpki.judge(prefix, 64501).source, touched], ['b', ['all']])
    a.set(64500)
    assert.deepEqual([rpki.judge(prefix, 64500).source, touched.length], ['a', 2])
    b.change([prefix])
    assert.equal(touched.length, 2)
    a.change([prefix])
    assert.deepEqual(touched[2], [prefix])
    a.expire()
    assert.deepEqual([rpki.judge(prefix, 64500).source, touched[3]], ['b', 'all'])
    assert.equal(rpki.status().source, 'b')
  })

  it('is unavailable when no source is current, with the problem of each of them in the status', async () => {
    const [a, b] = [new FakeSource('a'), new FakeSource('b')]
    const rpki = rpkiOf(a, b)
    const touched: TouchedPrefixes[] = []
    rpki.onChange((one) => touched.push(one))
    await rpki.start?.()
    a.set(64500)
    a.expire()
    const { state, reason } = rpki.judge(prefix, 64500)
    assert.deepEqual([state, touched], ['unavailable', ['all', 'all']])
    assert.equal(reason, 'no RPKI source is current')
    assert.deepEqual(
      rpki.status().sources.map(({ name, problem }) => [name, problem]),
      [
        ['a', 'gone'],
        ['b', 'gone'],
      ],
    )
    assert.equal(rpki.status().source, null)
  })

  it('uses a valid source at once while the first one is suspicious, and its last good set without one', async () => {
    const [a, b] = [new FakeSource('a'), new FakeSource('b')]
    const rpki = rpkiOf(a, b)
    const touched: TouchedPrefixes[] = []
    rpki.onChange((one) => touched.push(one))
    await rpki.start?.()
    a.set(64500)
    touched.length = 0
    a.suspect(tableOf(0))
    assert.deepEqual(
      [rpki.judge(prefix, 64500).state, rpki.judge(prefix, 64500).source, touched],
      ['valid', 'a', []],
    )
    assert.equal(rpki.status().sources[0]!.suspicious, true)
    b.set(64500)
    assert.deepEqual([rpki.judge(prefix, 64500).source, rpki.status().source, touched], ['b', 'b', ['all']])
    b.expire()
    assert.deepEqual([rpki.judge(prefix, 64500).state, rpki.judge(prefix, 64500).source], ['valid', 'a'])
    a.suspect(undefined)
    b.set(64501)
    assert.equal(rpki.judge(prefix, 64500).source, 'a')
  })

  it('uses a loss that another source confirms, even one that is suspicious itself, but no empty set', async () => {
    const [a, b] = [new FakeSource('a'), new FakeSource('b')]
    await rpkiOf(a, b).start?.()
    for (const source of [a, b]) source.hold(tableOf(1_000))
    a.suspect(tableOf(700))
    assert.deepEqual({ a: a.accepted, b: b.accepted }, { a: 0, b: 0 })
    b.hold(tableOf(720))
    assert.deepEqual({ a: a.accepted, b: b.accepted }, { a: 1, b: 0 })
    for (const source of [a, b]) source.hold(tableOf(700))
    a.suspect(tableOf(500))
    b.suspect(tableOf(510))
    assert.deepEqual({ a: a.accepted, b: b.accepted }, { a: 2, b: 1 })
    for (const source of [a, b]) source.suspect(tableOf(0))
    assert.deepEqual({ a: a.accepted, b: b.accepted }, { a: 2, b: 1 })
    a.suspect(tableOf(700, 1_000))
    b.hold(tableOf(700))
    assert.deepEqual({ a: a.accepted, b: b.accepted }, { a: 2, b: 1 })
  })

  it('warns when a source becomes suspicious, once', async () => {
    const lines: Record<string, unknown>[] = []
    const log = createLog(
      { logLevel: 'warn', logFormat: 'json' },
      { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    )
    const source = new FakeSource('a')
    await createRpki({ sources: [source], log }).start?.()
    source.hold(tableOf(1_000))
    for (const size of [719, 700, 0]) source.suspect(tableOf(size))
    assert.deepEqual(
      lines.map(({ source, before, after }) => [source, before, after]),
      [['a', 1_000, 719]],
    )
  })

  it('names two sources that disagree about one of our announcements, once, until they agree again', async () => {
    const lines: Record<string, unknown>[] = []
    const log = createLog(
      { logLevel: 'info', logFormat: 'json' },
      { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    )
    const [a, b] = [new FakeSource('a'), new FakeSource('b')]
    const rpki = createRpki({ sources: [a, b], log, disagreementMs: 0 })
    await rpki.start?.()
    a.set(64500)
    b.set(64500)
    rpki.setAnnounced([{ prefix, asn: 64500 }])
    const shown = () => rpki.status().sources.map(({ disagreement }) => disagreement)
    assert.deepEqual(shown(), [null, null])
    b.set(64501)
    rpki.setAnnounced([{ prefix, asn: 64500 }])
    const about = '1 announcement, such as 192.0.2.0/24 of AS64500: valid only in a'
    assert.deepEqual(shown(), [`it disagrees with b about ${about}`, `it disagrees with a about ${about}`])
    const warned = () => lines.filter(({ message }) => message === 'RPKI sources disagree')
    assert.deepEqual(
      warned().map(({ source, other, about: text }) => [source, other, text]),
      [['a', 'b', about]],
    )
    b.set(64500)
    assert.deepEqual([shown(), warned().length], [[null, null], 1])
    b.hold(tableOf(1_000))
    rpki.setAnnounced([])
    assert.match(shown()[1] ?? '', /about the number of VRPs: 1 in a, 1000 in b/)
  })

  it('reports no disagreement that has not lasted', async () => {
    const [a, b] = [new FakeSource('a'), new FakeSource('b')]
    const rpki = rpkiOf(a, b)
    await rpki.start?.()
    rpki.setAnnounced([{ prefix, asn: 64500 }])
    a.set(64500)
    b.set(64501)
    assert.deepEqual(
      rpki.status().sources.map(({ disagreement }) => disagreement),
      [null, null],
    )
  })

  it('notifies every listener, even if another one fails', async () => {
    const source = new FakeSource('a')
    const rpki = rpkiOf(source)
    const touched: TouchedPrefixes[] = []
    rpki.onChange(() => {
      throw new Error('planted')
    })
    rpki.onChange((one) => touched.push(one))
    await rpki.start?.()
    source.set(64500)
    assert.deepEqual(touched, ['all'])
  })

  it('starts and stops its sources, and ignores notifications after its stop', async () => {
    const source = new FakeSource('a')
    const rpki = rpkiOf(source)
    const touched: TouchedPrefixes[] = []
    rpki.onChange((one) => touched.push(one))
    await rpki.start?.()
    await rpki.start?.()
    assert.deepEqual(source.calls, ['start'])
    await rpki.stop?.()
    source.set(64500)
    assert.deepEqual([source.calls, touched], [['start', 'stop'], []])
  })
})

/** A table of `size` VRPs, starting with number `from`. */
function tableOf(size: number, from = 0): RoaTable {
  return createRoaTable(
    Array.from({ length: size }, (_, i) =>
      vrpBits({
        prefix: parsePrefix(`10.${(from + i) >> 8}.${(from + i) & 255}.0/24`),
        maxLength: 24,
        asn: 1,
      }),
    ),
  )
}

function rpkiOf(...sources: VrpSource[]): Rpki {
  return createRpki({ sources, log: silentLog })
}

/** A source with configured VRPs. */
class FakeSource implements VrpSource {
  readonly name: string
  readonly label: string
  readonly calls: string[] = []
  accepted = 0
  readonly #listeners = new Set<(touched: TouchedPrefixes) => void>()
  #current: CurrentVrps | undefined
  #suspicion: Suspicion | undefined

  constructor(name: string) {
    this.name = name
    this.label = name
  }

  start(): void {
    this.calls.push('start')
  }

  stop(): void {
    this.calls.push('stop')
  }

  current(): CurrentVrps | undefined {
    return this.#current
  }

  suspicion(): Suspicion | undefined {
    return this.#suspicion
  }

  setAnnounced(): void {}

  accept(): void {
    this.accepted++
    this.hold(this.#suspicion!.table)
  }

  onChange(listener: (touched: TouchedPrefixes) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  status() {
    const state = this.#current ? ('current' as const) : ('unavailable' as const)
    const vrps = this.#current?.table.size ?? 0
    const suspicious = this.#suspicion !== undefined
    return { state, vrps, suspicious, asOf: null, expires: null, problem: this.#current ? null : 'gone' }
  }

  hold(table: RoaTable): void {
    this.#suspicion = undefined
    this.#current = { table, asOf }
    this.change('all')
  }

  suspect(table: RoaTable | undefined): void {
    const before = this.#current?.table.size ?? 0
    const isConfirmedBy = (other: RoaTable) => table !== undefined && areSimilar(table, other)
    this.#suspicion = table && { table, before, loss: 'planted', isConfirmedBy, since: asOf, until: asOf }
    this.change([])
  }

  /** One VRP for 192.0.2.0/24. */
  set(asn: number): void {
    this.#current = { table: createRoaTable([vrpBits({ prefix, maxLength: 24, asn })]), asOf }
    this.change('all')
  }

  expire(): void {
    this.#current = undefined
    this.change('all')
  }

  change(touched: TouchedPrefixes): void {
    for (const listener of this.#listeners) listener(touched)
  }
}
