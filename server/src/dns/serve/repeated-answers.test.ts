// A server with the cache and one without it, side by side: after any sequence of questions and changes both give the same octets.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createHandler } from '../../drivers/dns-server/handler.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { emptyMessage, opcode, rcode, type Message } from '../../net/dns/message.ts'
import { parseName, parseZoneName, type ZoneName } from '../../net/dns/name.ts'
import type { Serial } from '../../net/dns/serial.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'
import { MemoryZone } from '../answer/memory-zone.ts'
import { rrsetsOf } from '../testing.ts'
import { RepeatedAnswers, type CachedZones } from './repeated-answers.ts'
import { createAnswerer } from './answer-query.ts'
import type { LoadedZone, ServedZones } from './served-zones.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const names = ['example.test.', 'a.example.test.'] as const
const labels = ['', 'a.', 'b.'] as const
const types = [recordType.A, recordType.TXT, recordType.SOA, recordType.DS, recordType.IXFR] as const

/** Zones that the test changes, as the name server's zones change: a step raises the serial, and a new zone has a new object. */
class ChangingZones implements CachedZones {
  readonly #byName = new Map<ZoneName, LoadedZone>()
  isLoaded: boolean
  mayTransfer = false
  generation = 0
  now = new Date(1_000)

  constructor(isLoaded: boolean) {
    this.isLoaded = isLoaded
    this.change(0, 'replace', 1)
  }

  get = (name: ZoneName) => this.#byName.get(name)
  find = (name: ZoneName) => {
    const zone = this.#byName.get(name)
    return zone?.expires && zone.expires < this.now ? 'expired' : zone
  }
  readonly contents = {
    has: (name: ZoneName) => this.#byName.has(name),
    get: (name: ZoneName) => {
      const zone = this.find(name)
      return zone === 'expired' ? zone : zone?.content
    },
  }

  change(at: number, kind: 'replace' | 'remove' | 'step' | 'expire', value: number): void {
    const name = parseZoneName(names[at]!)
    const zone = this.#byName.get(name)
    if (kind === 'replace' || !zone) {
      this.generation += 1
      const sets = rrsetsOf(
        name,
        `@ 60 SOA ns1 hostmaster ${value} 60 60 60 60\n@ 60 NS ns1\na 60 A 192.0.2.${value}`,
      )
      const content = new MemoryZone(
        name,
        sets.map((set) => ({ ...set, rrsig: [] })),
      )
      const soa = content.find(name, recordType.SOA)!
      const facts = { id: at, kind: 'primary', serial: value as Serial, claimed: null, position: 0 } as const
      this.#byName.set(name, { ...facts, name, soa, content, expires: null, recent: [] })
    } else if (kind === 'remove') {
      this.generation += 1
      this.#byName.delete(name)
    } else if (kind === 'step') {
      const [after] = rrsetsOf(name, `b 60 TXT "${value}"`).map((set) => ({ ...set, rrsig: [] }))
      ;(zone.content as MemoryZone).apply([{ after: after! }])
      zone.serial = (zone.serial + 1) as Serial
    } else zone.expires = new Date(this.now.getTime() + value * 10)
  }
}

const question = fc.record({
  name: fc.constantFrom(
    ...labels.flatMap((label) => names.map((name) => `${label}${name}`)),
    'foreign.test.',
  ),
  type: fc.constantFrom(...types),
  class: fc.constantFrom(recordClass.IN, recordClass.IN, recordClass.CH),
  opcode: fc.constantFrom(opcode.QUERY, opcode.QUERY, opcode.QUERY, opcode.NOTIFY),
  rd: fc.boolean(),
  edns: fc.option(
    fc.record({ udpSize: fc.constantFrom(512, 1232), do: fc.boolean(), version: fc.constantFrom(0, 0, 1) }),
  ),
})

/** Few in each run, so that most are asked again after a change. */
const askedMax = 8
const questions = fc
  .array(question, { minLength: askedMax / 2, maxLength: askedMax / 2 })
  .map((some) => some.flatMap((one) => [one, { ...one, rd: !one.rd }]))

const commands = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.nat(askedMax - 1).map((ask) => ({ ask })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.nat(names.length - 1),
          fc.constantFrom('replace', 'remove', 'step', 'expire', 'expire'),
          fc.integer({ min: 1, max: 99 }),
        )
        .map((change) => ({ change })),
    },
    { weight: 2, arbitrary: fc.nat(1_000).map((later) => ({ later })) },
    { weight: 1, arbitrary: fc.constant({ allow: true }) },
  ),
  { maxLength: 60 },
)

const wireOf = ({ name, type, class: of, edns, ...header }: Asked): Uint8Array =>
  encodeMessage({
    ...emptyMessage,
    ...header,
    questions: [{ name: parseName(name), type, class: of }],
    ...(edns ? { edns: { ...edns, options: [] } } : {}),
  } as Message)

type Asked = typeof question extends fc.Arbitrary<infer T> ? T : never

/** A server of these zones. Its NOTIFY is answered alternately, so that a missing one shows. */
function serverOf(zones: ChangingZones, repeated?: RepeatedAnswers) {
  const served = zones as unknown as ServedZones
  const answer = createAnswerer(true, served)
  const counts = { answered: 0, notified: 0 }
  const { handleDatagram } = createHandler({
    zones: served,
    answer: (query, transport) => (counts.answered++, answer(query, transport)),
    findKey: () => undefined,
    transferView: () => (zones.mayTransfer ? 'unsigned' : undefined),
    notified: () => (counts.notified++ % 2 === 0 ? rcode.NOERROR : rcode.NOTAUTH),
    now: () => 0,
    ...(repeated && { repeated }),
  })
  const ask = (wire: Uint8Array) => handleDatagram({ wire, address: '127.0.0.1', transport: 'udp' })
  return { ask, counts }
}

describe('the cache of answers', () => {
  it('never changes an answer, whatever was asked and changed before', () => {
    const octetsMax = fc.constantFrom(600, 2_000, 1_000_000)
    fc.assert(
      fc.property(fc.boolean(), questions, commands, octetsMax, (isLoaded, asked, commands, octetsMax) => {
        const zones = new ChangingZones(isLoaded)
        const plain = serverOf(zones)
        const cached = serverOf(zones, new RepeatedAnswers(zones, () => zones.now, octetsMax))
        for (const one of commands) {
          if ('change' in one) zones.change(...one.change)
          else if ('later' in one) zones.now = new Date(zones.now.getTime() + one.later)
          else if ('ask' in one) {
            const wire = wireOf(asked[one.ask]!)
            // The ID differs each time.
            wire.set([zones.generation, one.ask])
            assert.deepEqual(cached.ask(wire), plain.ask(wire))
          } else {
            zones.isLoaded = true
            zones.mayTransfer = !zones.mayTransfer
          }
        }
      }),
      { numRuns: scaled(10_000, 1_000) },
    )
  })

  it('answers a repeated question without decoding it, as long as there is room', () => {
    const zones = new ChangingZones(true)
    const { ask, counts } = serverOf(zones, new RepeatedAnswers(zones, () => zones.now, 3_000))
    const about = (name: string) =>
      ask(wireOf({ name, type: recordType.A, class: recordClass.IN, opcode: 0, rd: false, edns: null }))
    about('a.example.test.')
    about('a.example.test.')
    assert.equal(counts.answered, 1)
    for (let at = 0; at < 20; at++) about(`n${at}.example.test.`)
    about('a.example.test.')
    assert.equal(counts.answered, 22)
  })
})
