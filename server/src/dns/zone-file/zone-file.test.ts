// Zone files: the meaning of each construct, every error with its line, and that no text makes the parser throw or stall.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parseName } from '../../net/dns/name.ts'
import { validData } from '../../net/dns/rdata/testing-corpus.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import { typeName } from '../../net/dns/type.ts'
import { cpuMs } from '../../net/testing-time.ts'
import { printZoneFile } from './print.ts'
import { collectSets } from './check-zone.ts'
import { parseZoneFile, parseZoneFileInSteps } from './zone-file.ts'
import type { ZoneFile, ZoneFileOptions } from './zone-file.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const origin = parseName('example')

function parse(text: string, options: Partial<ZoneFileOptions> = {}): ZoneFile {
  return parseZoneFile(Buffer.from(text, 'latin1'), { origin, ...options })
}

/** The records as `name ttl TYPE data`, or the codes of the problems with their lines. */
function read(text: string, options: Partial<ZoneFileOptions> = {}): string[] {
  const { records, problems } = parse(text, options)
  if (problems.length > 0) return problems.map(({ code, line }) => `${line} ${code}`)
  return records.map(
    ({ name, ttl, type, rdata }) => `${name} ${ttl} ${typeName(type)} ${printRdata(type, rdata)}`,
  )
}

const a = 'a.example. 60 A 192.0.2.1'

describe('a record of a zone file', () => {
  const cases: [title: string, text: string, records: string[]][] = [
    [
      'has TTL and class in either order',
      'a 60 IN A 192.0.2.1\na IN 60 A 192.0.2.1\na 60 A 192.0.2.1',
      [a, a, a],
    ],
    ['has a TTL with units', 'a 1m A 192.0.2.1\na 0h60S a 192.0.2.1', [a, a]],
    ['may have a class by number', 'a 60 CLASS1 TYPE1 192.0.2.1', [a]],
    ['spans lines in parentheses', 'a 60 ( A ; comment )\n\n 192.0.2.1\t) ; more', [a]],
    ['may have nested parentheses', 'a 60 ( ( A ) ( 192.0.2.1 ) )', [a]],
    [
      'takes the last owner if it is indented',
      'a 60 A 192.0.2.1\n\tA 192.0.2.2',
      [a, 'a.example. 60 A 192.0.2.2'],
    ],
    [
      'keeps the last owner over comments, empty lines and $ORIGIN',
      'a 60 A 192.0.2.1\n\n ; c\n$ORIGIN x.\n A 192.0.2.1',
      [a, a],
    ],
    [
      'has a number, a type or a class as owner',
      '60 60 A 192.0.2.1\nA 60 A 192.0.2.1\nIN 60 IN A 192.0.2.1',
      ['60.example. 60 A 192.0.2.1', a, 'in.example. 60 A 192.0.2.1'],
    ],
    [
      'has @ as the origin',
      '@ 60 A 192.0.2.1\n$ORIGIN b\n@ 60 CNAME @',
      ['example. 60 A 192.0.2.1', 'b.example. 60 CNAME b.example.'],
    ],
    [
      'has an escaped owner',
      '\\097 60 A 192.0.2.1\n\\@ 60 A 192.0.2.1\na\\.b 60 A 192.0.2.1',
      [a, '\\@.example. 60 A 192.0.2.1', 'a\\.b.example. 60 A 192.0.2.1'],
    ],
    [
      'ends with CRLF, with a missing line break, or after a byte order mark',
      '\u00ef\u00bb\u00bfa 60 A 192.0.2.1\r\na 60 A 192.0.2.1',
      [a, a],
    ],
    ['has a comment right after the data', 'a 60 A 192.0.2.1;c', [a]],
    [
      'has quoted strings with any character but a line break',
      'a 60 TXT "; ( ) \\" \u00e9" b\\;c',
      ['a.example. 60 TXT "; ( ) \\" \\233" "b;c"'],
    ],
    [
      'has key="value" as one token',
      'a 60 SVCB 1 . alpn="h2,h3" port="53"',
      ['a.example. 60 SVCB 1 . alpn="h2,h3" port="53"'],
    ],
    ['has unknown data', 'a 60 TYPE65280 \\# 3 ( 00 01\n 02 )', ['a.example. 60 TYPE65280 \\# 3 000102']],
  ]
  for (const [title, text, records] of cases) {
    it(title, () => {
      assert.deepEqual(read(text), records)
    })
  }
})

describe('the TTL of a record', () => {
  const soa = '@ SOA ns h 1 2 3 4 500\n'
  const cases: [title: string, text: string, ttls: number[]][] = [
    ['is $TTL', '$TTL 10\na A 192.0.2.1\nb 20 A 192.0.2.1\nc A 192.0.2.1', [10, 20, 10]],
    ['is the last one without $TTL', 'a 20 A 192.0.2.1\nb A 192.0.2.1', [20, 20]],
    ['is the minimum of SOA if there is no other', `${soa}a A 192.0.2.1`, [500, 500]],
    ['is the default otherwise', 'a A 192.0.2.1', [3_600]],
    [
      'above 31 bits is 0',
      'a 4294967295 A 192.0.2.1\n$TTL 2147483648\nb A 192.0.2.1\nc 2147483647 A 192.0.2.1',
      [0, 0, 2_147_483_647],
    ],
  ]
  for (const [title, text, ttls] of cases) {
    it(title, () => {
      assert.deepEqual(
        parse(text, { defaultTtl: 3_600 }).records.map(({ ttl }) => ttl),
        ttls,
      )
    })
  }

  it('warns of a target that repeats the zone, since its final dot is missing', () => {
    const text = 'a 60 MX 10 mail.example\nb 60 CNAME www.example.\nc 60 SRV 0 0 1 example\nd 60 NS ns.sub\n'
    assert.deepEqual(
      parse(text).warnings.map(({ code, line }) => [code, line]),
      [
        ['relative_target', 1],
        ['relative_target', 3],
      ],
    )
  })

  it('is reported if it is changed, and missing if nothing gives one', () => {
    assert.deepEqual(parse('a 4294967295 A 192.0.2.1').warnings[0]?.code, 'ttl_above_max')
    assert.deepEqual(parse('a 1 A 192.0.2.1').warnings, [], 'without a default')
    const automatic = parse('a 1 A 192.0.2.1\nb A 192.0.2.2', { defaultTtl: 3600 })
    assert.deepEqual(
      [automatic.records.map(({ ttl }) => ttl), automatic.warnings.map(({ code, line }) => [code, line])],
      [[3600, 3600], [['ttl_automatic', 1]]],
    )
    assert.deepEqual(read('a A 192.0.2.1'), ['1 ttl_missing'])
  })
})

describe('errors of a zone file', () => {
  const cases: [text: string, problems: string[]][] = [
    ['a 60 TXT "b\nc" 60 A 192.0.2.1\nd 60 A 192.0.2.1', ['1 quote', '2 quote']],
    ['a 60 TXT "b', ['1 quote']],
    ['a 60 TXT b\\', ['1 quote']],
    ['a 60 A 192.0.2.1 )\nb 60 A 192.0.2', ['1 unopened_parenthesis', '2 rdata']],
    ['\n\na 60 A ( 192.0.2.1\nb 60 A 192.0.2.1', ['3 unclosed_parenthesis']],
    ['a 60 A 192.0.2.1\0\nb 60 A x', ['1 control_character', '2 rdata']],
    ['a 60 A\r 192.0.2.1\na 60 A x\r\r\n', ['1 control_character', '2 rdata']],
    ['a..b 60 A 192.0.2.1\n 60 A 192.0.2.1', ['1 owner', '2 owner_missing']],
    ['"a" 60 A 192.0.2.1', ['1 owner']],
    [' 60 A 192.0.2.1', ['1 owner_missing']],
    ['a 4294967296 A 192.0.2.1', ['1 ttl']],
    ['a 1x A 192.0.2.1', ['1 ttl']],
    ['a 60 CH TXT a', ['1 class']],
    ['a 60 IN IN A 192.0.2.1', ['1 type']],
    ['a 60 70 A 192.0.2.1', ['1 type']],
    ['a 60 FOO bar', ['1 type']],
    ['a 60 IN', ['1 type_missing']],
    ['a', ['1 type_missing']],
    ['a 60 ANY x', ['1 type_refused']],
    [
      'a 60 MD x\na 60 NULL \\# 0\na 60 TYPE250 \\# 0\na 60 TYPE0 \\# 0',
      ['1 type_refused', '2 type_refused', '3 type_refused', '4 type_refused'],
    ],
    ['a 60 A', ['1 rdata']],
    ['a 60 ALIES b', ['1 type']],
    ['$TTL', ['1 directive']],
    ['$TTL 1 2', ['1 directive']],
    ['$TTL -1', ['1 directive']],
    ['$ORIGIN', ['1 directive']],
    ['$ORIGIN a..b', ['1 directive']],
    ['$FOO 1', ['1 directive']],
    ['$INCLUDE /etc/passwd\n$include ../x', ['1 include', '2 include']],
    ['$GENERATE 1-2 a$ 60 A 192.0.2', ['1 rdata']],
    ['$GENERATE 2-1 a$ 60 A 192.0.2.$', ['1 generate']],
    ['$GENERATE 0-4294967295 a$ 60 A 192.0.2.1', ['1 generate']],
    ['$GENERATE 0-65536 a$ 60 A 192.0.2.1', ['1 generate']],
    ['$GENERATE 1-2/0 a$ 60 A 192.0.2.1', ['1 generate']],
    ['$GENERATE 1-2 a${0,999999} 60 A 192.0.2.1', ['1 generate']],
    ['$GENERATE 1-2 a${-5} 60 A 192.0.2.1', ['1 generate']],
  ]
  for (const [text, problems] of cases) {
    it(`are reported for ${JSON.stringify(text).slice(0, 70)}`, () => {
      assert.deepEqual(read(text), problems)
    })
  }

  it('have the line, its text, the field and advice', () => {
    const [problem] = parse('; c\n\nwww 60 IN MX 70000 mail\n').problems
    assert.deepEqual(problem, {
      code: 'rdata',
      line: 3,
      text: 'www 60 IN MX 70000 mail',
      message: 'preference: not a whole number from 0 to 65535.',
      field: 'preference',
    })
  })

  it('end the file after 1,000', () => {
    const { problems } = parse('a 60 A x\n'.repeat(2_500))
    assert.deepEqual([problems.length, problems[999]!.line], [1_000, 1_000])
  })

  it('end the file at its limits', () => {
    assert.deepEqual(read('a 60 A 192.0.2.1\n'.repeat(4), { recordsMax: 3 }), ['4 too_many_records'])
    assert.deepEqual(read('a 60 A 192.0.2.1\n'.repeat(4), { octetsMax: 30 }), ['1 file_too_large'])
    assert.deepEqual(read(`a 60 TXT (${' "x"\n'.repeat(20_000)}`), ['1 entry_too_long'])
    assert.deepEqual(read('$GENERATE 1-100 a$ 60 A 192.0.2.1\nb 60 A x', { recordsMax: 3 }), [
      '1 too_many_records',
    ])
  })
})

describe('$GENERATE', () => {
  const cases: [text: string, records: string[]][] = [
    ['$GENERATE 1-3/2 a$ 60 A 192.0.2.$', ['a1.example. 60 A 192.0.2.1', 'a3.example. 60 A 192.0.2.3']],
    [
      '$GENERATE 9-10 ${-8,3,d} 60 CNAME h${1,0,x}',
      ['001.example. 60 CNAME ha.example.', '002.example. 60 CNAME hb.example.'],
    ],
    ['$GENERATE 255-255 ${0,2,X}${0,4,o} 60 A 192.0.2.1', ['ff0377.example. 60 A 192.0.2.1']],
    ['$GENERATE 18-18 ${0,8,n} 60 PTR a$$b\\$', ['2.1.0.0.example. 60 PTR a\\$b\\$.example.']],
    ['$GENERATE 1-1 a 60 MX "10 m$"', ['a.example. 60 MX 10 m1.example.']],
    ['$GENERATE 1-1 a 60 TXT "a b" $', ['a.example. 60 TXT "a b" "1"']],
    ['$TTL 5\n$GENERATE 1-1 a A 192.0.2.$', ['a.example. 5 A 192.0.2.1']],
  ]
  for (const [text, records] of cases) {
    it(`expands ${text}`, () => {
      assert.deepEqual(read(text), records)
    })
  }
})

describe('a printed zone', () => {
  it('parses to the same records, SOA first and in canonical order', () => {
    const lines = validData.map((line, at) => `n${at % 50} ${at} ${line.replace(/ => .*/, '')}`)
    const { records, problems } = parse(lines.join('\n'), { defaultTtl: 1 })
    assert.deepEqual(problems, [])
    const { sets } = collectSets(records)
    const text = [...printZoneFile(sets)].join('')
    assert.match(text, /^\S+\t\d+\tIN\tSOA/)
    const again = parse(text)
    assert.deepEqual(again.problems, [])
    assert.equal([...printZoneFile(collectSets(again.records).sets)].join(''), text)
    assert.equal(
      again.records.length,
      sets.reduce((count, { rdata }) => count + rdata.length, 0),
    )
  })
})

describe('any text', () => {
  it('gives records or problems, the same in steps as at once', async () => {
    const pieces = [
      'a',
      ' ',
      '\n',
      '\t',
      '"',
      '\\',
      '(',
      ')',
      ';',
      '$',
      '@',
      '.',
      '60',
      'IN',
      'A',
      'TXT',
      '192.0.2.1',
      '\r\n',
      '\0',
    ]
    const more = [
      '$TTL',
      '$ORIGIN',
      '$GENERATE',
      '1-9',
      '${0,3,d}',
      'MX 10',
      'SVCB 1 . alpn=',
      '\\# 4',
      '\u00ff',
      'a 60 A 192.0.2.1\n',
    ]
    const text = fc
      .array(fc.constantFrom(...pieces, ...more), { maxLength: 60 })
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        const once = parse(text)
        assert.deepEqual(await parseZoneFileInSteps(Buffer.from(text, 'latin1'), { origin }), once)
        for (const { line, message } of once.problems) assert.ok(line >= 1 && message.length > 10)
      }),
      { numRuns: scaled(10_000) },
    )
  })

  it('of five million octets takes a bounded time', () => {
    for (const piece of [
      '(',
      ')',
      '"',
      '\\',
      ';',
      '$',
      '\n',
      ' ',
      'a',
      'a ',
      'a\n',
      '"a" ',
      '$GENERATE 1-65536 a 1 A 192.0.2.1\n',
      'a 1 TXT "a"\n',
      `$GENERATE 1-65536 a$ 1 TXT ${' $'.repeat(20_000)}\n`,
      `$ORIGIN ${'a.'.repeat(120)}\na 1 HIP 2 00 AwEA ${' a'.repeat(200)}\n`,
    ]) {
      const text = Buffer.from(piece.repeat(Math.floor(5_000_000 / piece.length)), 'latin1')
      const startMs = cpuMs()
      parseZoneFile(text, { origin })
      const tookMs = cpuMs() - startMs
      assert.ok(tookMs < 5_000, `${JSON.stringify(piece)}: ${tookMs} ms`)
    }
  })
})
