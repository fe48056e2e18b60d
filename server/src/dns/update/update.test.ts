// UPDATE as values: every form of prerequisite and change of RFC 2136, the rules for SOA, NS and CNAME, and random records.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { emptyMessage, opcode, rcode, type Message } from '../../net/dns/message.ts'
import { parseName, type ZoneName } from '../../net/dns/name.ts'
import { parseRdata, printRdata } from '../../net/dns/rdata/rdata.ts'
import type { ResourceRecord, Rrset } from '../../net/dns/record.ts'
import { findType, recordClass, recordType, typeName } from '../../net/dns/type.ts'
import { rrsetsOf } from '../testing.ts'
import { applyUpdate, decodeUpdate, requirePrerequisites, UpdateError } from './update.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const zone = parseName('example.') as ZoneName
const stored = rrsetsOf(
  zone,
  `@ 300 SOA ns1.example. host.example. 1 3600 900 1209600 300
   @ 300 NS ns1.example.
   www 300 A 192.0.2.1
   www 300 A 192.0.2.2
   shop 300 ALIAS lb.example.net.
   alias 300 CNAME www.example.`,
)

/** `class name type [ttl data]`, such as `ANY www A` or `IN www A 300 192.0.2.3`. */
function record(line: string): ResourceRecord {
  const [className, name, type, ttl = '0', ...data] = line.split(' ')
  const number = type === 'ANY' ? 255 : findType(type!)!
  const rdata = data.length === 0 ? new Uint8Array() : parseRdata(number, data.join(' '), { origin: zone })
  const known = recordClass[className as keyof typeof recordClass]
  return { name: parseName(name!, zone), type: number, class: known, ttl: Number(ttl), rdata }
}

const message = (prerequisites: string[], changes: string[]): Message => ({
  ...emptyMessage,
  opcode: opcode.UPDATE,
  questions: [{ name: zone, type: recordType.SOA, class: recordClass.IN }],
  answers: prerequisites.map(record),
  authorities: changes.map(record),
})

const applied = (...changes: string[]): string[] =>
  applyUpdate(decodeUpdate(message([], changes)), stored).map(
    ({ name, type, ttl, rdata }: Rrset) =>
      `${name} ${typeName(type)} ${
        rdata.length === 0
          ? '-'
          : `${ttl} ${rdata
              .map((one) => printRdata(type, one))
              .sort()
              .join(',')}`
      }`,
  )

const refusalOf = (work: () => unknown): number | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    if (!(error instanceof UpdateError)) throw error
    return error.rcode
  }
}

describe('prerequisites', () => {
  const cases: readonly [line: string, expected: number | undefined][] = [
    ['ANY www ANY', undefined],
    ['ANY none ANY', rcode.NXDOMAIN],
    ['NONE none ANY', undefined],
    ['NONE www ANY', rcode.YXDOMAIN],
    ['ANY www A', undefined],
    ['ANY www AAAA', rcode.NXRRSET],
    ['NONE www AAAA', undefined],
    ['NONE www A', rcode.YXRRSET],
    ['IN www A 0 192.0.2.1', rcode.NXRRSET],
    ['IN none A 0 192.0.2.1', rcode.NXRRSET],
  ]
  for (const [line, expected] of cases)
    it(`${line} is ${expected ?? 'met'}`, () => {
      const update = decodeUpdate(message([line], []))
      assert.equal(
        refusalOf(() => requirePrerequisites(update, stored)),
        expected,
      )
    })

  it('compares whole sets in any order', () => {
    const update = decodeUpdate(message(['IN www A 0 192.0.2.2', 'IN www A 0 192.0.2.1'], []))
    assert.equal(
      refusalOf(() => requirePrerequisites(update, stored)),
      undefined,
    )
  })
})

describe('decoding', () => {
  const bad: readonly [what: string, prerequisites: string[], changes: string[], expected: number][] = [
    ['a prerequisite with a TTL', ['ANY www A 5'], [], rcode.FORMERR],
    ['a prerequisite of another class', ['CH www A'], [], rcode.FORMERR],
    ['a prerequisite out of the zone', ['ANY www.net. A'], [], rcode.NOTZONE],
    ['a change out of the zone', [], ['IN www.net. A 300 192.0.2.1'], rcode.NOTZONE],
    ['a deletion with a TTL', [], ['ANY www A 5'], rcode.FORMERR],
    ['adding an obsolete type', [], ['IN www MF 300 \\# 1 00'], rcode.REFUSED],
    ['adding ANY', [], ['IN www ANY 300'], rcode.FORMERR],
    ['deleting a record of type ANY', [], ['NONE www ANY'], rcode.FORMERR],
    ['deleting sets of type AXFR', [], ['ANY www AXFR'], rcode.FORMERR],
    ['an address without data', [], ['IN www A 300'], rcode.FORMERR],
  ]
  for (const [what, prerequisites, changes, expected] of bad)
    it(`refuses ${what}`, () =>
      assert.equal(
        refusalOf(() => decodeUpdate(message(prerequisites, changes))),
        expected,
      ))

  it('takes the deletion of an obsolete type, which may be stored', () =>
    assert.equal(decodeUpdate(message([], ['NONE www MF 0 \\# 1 00', 'ANY www MF'])).changes.length, 2))

  it('refuses to add data that name servers refuse at transfer, and takes its deletion', () => {
    const text = Buffer.from('!^.*$!\\1!')
    const rule = Uint8Array.from([0, 0, 0, 0, 1, 117, 0, text.length, ...text, 0])
    for (const [type, rdata] of [
      [recordType.NAPTR, rule],
      [recordType.NSAP, new Uint8Array()],
    ] as const) {
      const one = { name: zone, type, ttl: 0, rdata }
      const of = (recordsClass: number) => ({
        ...message([], []),
        authorities: [{ ...one, class: recordsClass }],
      })
      assert.equal(
        refusalOf(() => decodeUpdate(of(recordClass.IN))),
        rcode.FORMERR,
      )
      assert.equal(decodeUpdate(of(recordClass.NONE)).changes[0]!.kind, 'delete')
    }
  })

  it('refuses a zone section that is none', () => {
    const good = message([], [])
    assert.equal(
      refusalOf(() => decodeUpdate({ ...good, questions: [] })),
      rcode.FORMERR,
    )
    const chaos = { ...good.questions[0]!, class: recordClass.CH }
    assert.equal(
      refusalOf(() => decodeUpdate({ ...good, questions: [chaos] })),
      rcode.NOTAUTH,
    )
  })

  it('ends with a value or an RCODE for any record', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 65_535 }),
        fc.constantFrom(0, 1, 3, 254, 255, 999),
        fc.constantFrom(0, 300),
        fc.uint8Array({ maxLength: 40 }),
        (type, recordClass, ttl, rdata) => {
          const one = { name: zone, type, class: recordClass, ttl, rdata }
          refusalOf(() => applyUpdate(decodeUpdate({ ...message([], []), authorities: [one] }), stored))
          refusalOf(() => requirePrerequisites(decodeUpdate({ ...message([], []), answers: [one] }), stored))
        },
      ),
      { numRuns: scaled(5_000) },
    ))
})

describe('changes', () => {
  const cases: readonly [what: string, changes: string[], expected: string[]][] = [
    [
      'adds a record with the TTL for the whole set',
      ['IN www A 600 192.0.2.3'],
      ['www.example. A 600 192.0.2.1,192.0.2.2,192.0.2.3'],
    ],
    ['adds a record that exists without a change', ['IN www A 300 192.0.2.1'], []],
    ['deletes a record', ['NONE www A 0 192.0.2.1'], ['www.example. A 300 192.0.2.2']],
    ['deletes a record that does not exist', ['NONE www A 0 192.0.2.9'], []],
    ['deletes a set', ['ANY www A'], ['www.example. A -']],
    ['deletes and adds in order', ['ANY www A', 'IN www A 300 192.0.2.7'], ['www.example. A 300 192.0.2.7']],
    ['deletes a name', ['ANY www ANY'], ['www.example. A -']],
    ['replaces a CNAME', ['IN alias CNAME 300 other.example.'], ['alias.example. CNAME 300 other.example.']],
    [
      'adds an ALIAS by its number',
      ['IN @ TYPE65401 300 lb.example.net.'],
      ['example. ALIAS 300 lb.example.net.'],
    ],
    ['replaces an ALIAS', ['IN shop ALIAS 300 other.example.'], ['shop.example. ALIAS 300 other.example.']],
    ['adds no CNAME beside other data', ['IN www CNAME 300 other.example.'], []],
    ['adds no data beside a CNAME', ['IN alias A 300 192.0.2.1'], []],
    [
      'replaces a CNAME by an address',
      ['ANY alias CNAME', 'IN alias A 300 192.0.2.1'],
      ['alias.example. CNAME -', 'alias.example. A 300 192.0.2.1'],
    ],
    [
      'keeps SOA and NS of the zone itself',
      ['ANY @ ANY', 'ANY @ NS', 'ANY @ SOA', 'NONE @ NS 0 ns1.example.'],
      [],
    ],
    ['takes no SOA', ['IN @ SOA 300 a.example. b.example. 99 1 1 1 1'], []],
  ]
  for (const [what, changes, expected] of cases)
    it(what, () => assert.deepEqual(applied(...changes), expected))
})
