// Record sets of a zone together: errors that refuse the zone, warnings that do not, in the cases of RFC 1034, 2181, 4034 and 6672.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseName, parseZoneName } from '../../net/dns/name.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import { checkZone, collectSets } from './check-zone.ts'
import { parseZoneFile } from './zone-file.ts'

const zone = parseZoneName('example')

/** `code name TYPE`, of all findings; errors have an exclamation mark. */
function check(text: string): string[] {
  const { records, problems } = parseZoneFile(Buffer.from(`$TTL 60\n${text}`), { origin: zone })
  assert.deepEqual(problems, [])
  const { sets, findings } = collectSets(records)
  return [...findings, ...checkZone(zone, sets)].map(
    ({ code, isError, name, type }) => `${code}${isError ? '!' : ''} ${name} ${typeName(type)}`,
  )
}

describe('checkZone', () => {
  const cases: [title: string, text: string, findings: string[]][] = [
    ['accepts an ordinary zone', '@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n* TXT a\nwww CNAME ns', []],
    ['refuses CNAME beside other data', 'a CNAME b\na A 192.0.2.1', ['cname_and_other! a.example. CNAME']],
    [
      'compares names by their octets',
      'www CNAME b\nWWW A 192.0.2.1',
      ['cname_and_other! www.example. CNAME'],
    ],
    [
      'compares escaped names by their octets',
      'www CNAME b\n\\119ww A 192.0.2.1',
      ['cname_and_other! www.example. CNAME'],
    ],
    [
      'accepts CNAME beside RRSIG and NSEC',
      'a CNAME b\na NSEC b CNAME RRSIG NSEC\na RRSIG CNAME 13 2 60 20260101000000 20260101000000 1 example. AAAA',
      [],
    ],
    ['refuses CNAME at the apex', '@ CNAME a.', ['cname_and_other! example. CNAME']],
    [
      'refuses two records where there is one',
      'a CNAME b\na CNAME c\nd DNAME e\nd DNAME f',
      ['several_in_set! a.example. CNAME', 'several_in_set! d.example. DNAME'],
    ],
    ['refuses SOA below the apex', 'a SOA ns h 1 2 3 4 5', ['soa_below_apex! a.example. SOA']],
    [
      'refuses names outside the zone',
      'a.other. A 192.0.2.1\nb\\.example. A 192.0.2.1',
      ['out_of_zone! a.other. A', 'out_of_zone! b\\.example. A'],
    ],
    [
      'refuses names below DNAME, and accepts data beside it',
      'd DNAME e\nd A 192.0.2.1\na.b.d A 192.0.2.1',
      ['below_dname! a.b.d.example. A'],
    ],
    [
      'warns of data below a delegation except addresses',
      's NS ns.s\ns DS 1 13 253 00\nns.s A 192.0.2.1\nns.s TXT a\nx.y.s MX 1 a\ns TXT b',
      ['occluded s.example. TXT', 'occluded ns.s.example. TXT', 'occluded x.y.s.example. MX'],
    ],
    [
      'warns of DS without NS and refuses it at the apex',
      'a DS 1 13 253 00\n@ DS 1 13 253 00',
      ['ds_without_ns a.example. DS', 'ds_at_apex! example. DS'],
    ],
    [
      'warns of targets that are an alias',
      'a CNAME b.other.\n@ MX 1 a\n@ NS A\nx SRV 1 2 3 a\ny CNAME a',
      ['target_is_alias example. MX', 'target_is_alias example. NS', 'target_is_alias x.example. SRV'],
    ],
    [
      'warns of duplicates in another spelling',
      'a MX 1 B\na MX 01 b\na A 192.0.2.1\na A \\# 4 c0000201',
      ['duplicate a.example. MX', 'duplicate a.example. A'],
    ],
    ['warns of different TTLs', 'a 5 A 192.0.2.1\na 7 A 192.0.2.2', ['ttl_differs a.example. A']],
  ]
  for (const [title, text, findings] of cases) {
    it(title, () => {
      assert.deepEqual(check(text).toSorted(), findings.toSorted())
    })
  }

  it('refuses a set that fits into no message', () => {
    const text = Array.from({ length: 300 }, (_, at) => `a TXT "${String(at).padStart(250, 'x')}"\n`).join('')
    assert.deepEqual(check(text), ['set_too_large! a.example. TXT'])
  })

  it('refuses data that name servers refuse at transfer, and obsolete types, however they came', () => {
    const set = (type: number, ...octets: number[]) => ({
      name: parseName('a', zone),
      type,
      ttl: 60,
      rdata: [Uint8Array.from(octets)],
    })
    const sets = [
      set(recordType.NSAP),
      set(recordType.MB),
      set(recordType.A, 1),
      set(recordType.SINK, 0, 1, 2),
    ]
    assert.deepEqual(
      checkZone(zone, sets).map(({ code, type }) => `${code} ${typeName(type)}`),
      ['data_refused NSAP', 'data_refused MB', 'data_refused A'],
    )
    assert.deepEqual(check('*.a NS ns.other.\na.*.b NS ns.other.'), ['data_refused! *.a.example. NS'])
    assert.deepEqual(
      check('@ NS ns.other.\n@ DNAME other.\n').filter((one) => one.includes('refused')),
      [],
    )
    assert.deepEqual(check('a NS ns.other.\na DNAME other.').slice(0, 1), ['data_refused! a.example. DNAME'])
  })

  it('refuses a set that no resolver can validate: its canonical form has the name in each record', () => {
    const addresses = (count: number, name: string) =>
      Array.from({ length: count }, (_, i) => `${name} A 10.0.${i >> 8}.${i & 255}\n`).join('')
    const name = 'a-name-of-twenty-oct'
    assert.deepEqual(check(addresses(1_400, name)), [])
    assert.deepEqual(check(addresses(2_100, name)), [`set_too_large! ${name}.example. A`])
    assert.deepEqual(check(addresses(2_100, 'a')), [])
  })

  it('has the line of the record, and the smallest TTL for all', () => {
    const { records } = parseZoneFile(
      Buffer.from('a 9 A 192.0.2.1\nb 1 CNAME c\na 5 A 192.0.2.2\na 5 A 192.0.2.1\n'),
      { origin: zone },
    )
    const { sets, findings } = collectSets(records)
    assert.deepEqual(
      findings.map(({ code, line }) => [code, line]),
      [
        ['ttl_differs', 3],
        ['duplicate', 4],
      ],
    )
    assert.deepEqual([sets[0]!.ttl, sets[0]!.rdata.length], [5, 2])
  })

  it('has no findings for 49,999 names at three levels', () => {
    const text = Array.from({ length: 49_999 }, (_, at) => `a${at}.b${at % 7}.c A 192.0.2.1\n`).join('')
    assert.deepEqual(check(text), [])
  })
})
