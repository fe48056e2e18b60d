import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix } from '../../net/prefix.ts'
import { createRoaTable, vrpBits } from '../../net/roa-table.ts'
import { createLog, silentLog } from '../../runtime/log.ts'
import { createRpki } from './rpki.ts'
import type { CurrentVrps, Rpki, TouchedPrefixes, VrpSource } from './rpki.ts'

const prefix = parsePrefix('192.0.2.0/24')
const asOf = new Date('2026-11-21T00:00:00Z')

describe('the RPKI', () => {
  it('answers unavailable, and why, without a source', () => {
    assert.deepEqual(rpkiOf().judge(prefix, 64500), {
      state: 'unavailable',
      covering: [],
      source: null,
      asOf: null,
      reason: 'no RPKI source is configured',
    })
  })

  it('answers with the ROAs that cover the prefix, where they come from and how old they are', async () => {
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

  it('answers from the first source in order that is current, and judges all again when that changes', async () => {
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

  it('warns when a source loses many of its VRPs at once', async () => {
    const lines: Record<string, unknown>[] = []
    const log = createLog(
      { logLevel: 'warn', logFormat: 'json' },
      { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    )
    const source = new FakeSource('a')
    await createRpki({ sources: [source], log }).start?.()
    source.set(64500)
    for (source.vrps of [1_000, 900, 719, 700]) source.change([prefix])
    assert.deepEqual(
      lines.map(({ source, before, after }) => [source, before, after]),
      [['a', 900, 719]],
    )
  })

  it('tells every listener, whatever another one does', async () => {
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

  it('starts and stops its sources, and hears nothing after its stop', async () => {
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

function rpkiOf(...sources: VrpSource[]): Rpki {
  return createRpki({ sources, log: silentLog })
}

/** A source that is told what it has. */
class FakeSource implements VrpSource {
  readonly name: string
  readonly calls: string[] = []
  vrps = 0
  readonly #listeners = new Set<(touched: TouchedPrefixes) => void>()
  #current: CurrentVrps | undefined

  constructor(name: string) {
    this.name = name
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

  onChange(listener: (touched: TouchedPrefixes) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  status() {
    const state = this.#current ? ('current' as const) : ('unavailable' as const)
    return { state, vrps: this.vrps, asOf: null, expires: null, problem: this.#current ? null : 'gone' }
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
