// Merging the addresses of a target, and the records published in place of ALIAS records.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseName } from '../../net/dns/name.ts'
import { parseRdata, printRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import type { RrsetChange } from '../sign/sign-delta.ts'
import {
  applyAnswers,
  type AliasAddresses,
  type AliasBefore,
  type AliasOutcome,
  type FamilyAnswer,
} from './alias.ts'
import { withAddresses, type PublishedAlias } from './publish-aliases.ts'

const { A, AAAA, ALIAS, TXT } = recordType
const known: AliasBefore = {
  a: [parseRdata(A, '192.0.2.1')],
  aaaa: [parseRdata(AAAA, '2001:db8::1')],
  reason: null,
  waitedSeconds: 120,
}
const none: AliasBefore = { a: [], aaaa: [], reason: null, waitedSeconds: 0 }
const answer = (...addresses: string[]): FamilyAnswer => addresses.map((address) => ({ address, ttl: 120 }))
const isAllowed = (address: string): boolean => !address.startsWith('10.')
const shown = ({ a, aaaa, ...rest }: AliasOutcome) => ({
  ...rest,
  a: a.map((one) => printRdata(A, one)),
  aaaa: aaaa.map((one) => printRdata(AAAA, one)),
})

describe('answers of the resolver', () => {
  const kept = { a: ['192.0.2.1'], aaaa: ['2001:db8::1'], isChanged: false }
  const failed = { ...kept, isResolved: false, dueSeconds: 60 }
  const cases: readonly [what: string, a: FamilyAnswer, aaaa: FamilyAnswer, expected: object][] = [
    [
      'replace the addresses, in canonical order',
      answer('192.0.2.9', '192.0.2.3'),
      answer(),
      {
        a: ['192.0.2.3', '192.0.2.9'],
        aaaa: [],
        isChanged: true,
        isResolved: true,
        reason: null,
        dueSeconds: 120,
      },
    ],
    [
      'that are the same change nothing',
      answer('192.0.2.1'),
      answer('2001:db8:0::1'),
      { ...kept, isResolved: true, reason: null, dueSeconds: 120 },
    ],
    ['without any address keep those before', answer(), answer(), { ...failed, reason: 'no_addresses' }],
    ['of no server keep those before', 'unreachable', 'unreachable', { ...failed, reason: 'unreachable' }],
    ['that refuse keep those before', 'refused', answer(), { ...failed, reason: 'refused' }],
    [
      'with private addresses alone keep those before',
      answer('10.0.0.1'),
      answer(),
      { ...failed, reason: 'not_public' },
    ],
    [
      'leave out private addresses beside public ones',
      answer('10.0.0.1', '192.0.2.5'),
      answer('2001:db8::1'),
      {
        a: ['192.0.2.5'],
        aaaa: ['2001:db8::1'],
        isChanged: true,
        isResolved: true,
        reason: null,
        dueSeconds: 120,
      },
    ],
    [
      'of one family leave the other as it was',
      answer('192.0.2.5'),
      'unreachable',
      {
        a: ['192.0.2.5'],
        aaaa: ['2001:db8::1'],
        isChanged: true,
        isResolved: true,
        reason: 'unreachable',
        dueSeconds: 60,
      },
    ],
  ]
  for (const [what, a, aaaa, expected] of cases)
    it(what, () => assert.deepEqual(shown(applyAnswers(known, { a, aaaa }, isAllowed)), expected))

  it('are asked for again after their TTL, within a minute and five', () => {
    const after = (ttl: number): number => {
      const a = [{ address: '192.0.2.1', ttl }]
      return applyAnswers(none, { a, aaaa: [] }, isAllowed).dueSeconds
    }
    assert.deepEqual([0, 59, 61, 299, 86_400].map(after), [60, 60, 61, 299, 300])
  })

  it('are asked for less and less often while they fail, and every 15 minutes at least', () => {
    let before: AliasBefore = known
    const waits = Array.from({ length: 6 }, () => {
      const { dueSeconds, reason } = applyAnswers(before, { a: 'unreachable', aaaa: [] }, isAllowed)
      before = { ...before, reason, waitedSeconds: dueSeconds }
      return dueSeconds
    })
    assert.deepEqual(waits, [60, 120, 240, 480, 900, 900])
    const { dueSeconds } = applyAnswers(before, { a: answer('192.0.2.1'), aaaa: [] }, isAllowed)
    assert.equal(dueSeconds, 120)
  })

  it('have at most 100 addresses', () => {
    const many = answer(...Array.from({ length: 150 }, (_, at) => `192.0.2.${at}`))
    assert.equal(applyAnswers(none, { a: many, aaaa: [] }, isAllowed).a.length, 100)
  })
})

describe('a publication with ALIAS records', () => {
  const name = parseName('shop.example.')
  const set = (type: number, text: string): RrsetChange => ({
    name,
    type,
    after: { name, type, ttl: 3600, rdata: [parseRdata(type, text)] },
  })
  const removal = (type: number): RrsetChange => ({ name, type, after: undefined })
  const alias = (addresses?: AliasAddresses, ttl = 3600): PublishedAlias => ({ name, ttl, addresses })
  const text = (change: readonly RrsetChange[]): string[] =>
    change
      .map(({ type, after }) =>
        after
          ? `${typeName(type)} ${after.ttl} ${after.rdata.map((one) => printRdata(type, one)).join(' ')}`
          : `${typeName(type)} -`,
      )
      .toSorted()
  const written = set(ALIAS, 'lb.example.net.')

  it('has the addresses, with a TTL of five minutes or that of the record if it is lower', () => {
    assert.deepEqual(text(withAddresses([written], [alias(known)])), [
      'A 300 192.0.2.1',
      'AAAA 300 2001:db8::1',
    ])
    assert.deepEqual(text(withAddresses([], [alias({ ...known, aaaa: [] }, 60)])), [
      'A 60 192.0.2.1',
      'AAAA -',
    ])
  })

  it('leaves the addresses as they are served until the target has an answer', () => {
    const change = [written, removal(A), set(TXT, '"x"')]
    assert.deepEqual(text(withAddresses(change, [alias()])), ['TXT 3600 "x"'])
  })

  it('removes the addresses with the record', () => {
    assert.deepEqual(text(withAddresses([removal(ALIAS)], [])), ['A -', 'AAAA -'])
    assert.deepEqual(text(withAddresses([removal(ALIAS), set(A, '192.0.2.8')], [])), [
      'A 3600 192.0.2.8',
      'AAAA -',
    ])
  })

  it('removes nothing for a record that a later version has removed', () => {
    assert.deepEqual(withAddresses([written], []), [])
  })

  it('never has the type itself', () => {
    for (const addresses of [undefined, none, known])
      assert.ok(!withAddresses([written], [alias(addresses)]).some(({ type }) => type === ALIAS))
  })
})
