// Mutated record data, in text and as octets, at four name servers' parsers: this parser accepts and refuses whatever
// all of them accept or refuse, and produces the same octets as BIND.
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { skipWithout } from '@pharos/lab/program'
import { parseName } from '../../net/dns/name.ts'
import { parseRdata, printRdata } from '../../net/dns/rdata/rdata.ts'
import { invalidData, validData } from '../../net/dns/rdata/testing-corpus.ts'
import { findType } from '../../net/dns/type.ts'
import { ZoneFilePeers, zoneFileHeader, peerPrograms, zoneFilePeers } from './testing-peers.ts'
import { parseZoneFile } from './zone-file.ts'
import { scaled } from '../../runtime/testing-scale.ts'

import { testSeed } from '../../../test/support/random.ts'

const origin = parseName('example')
const count = scaled(1_500)

/** Types that at least one parser of Debian 12 does not support, and SOA, which is only at the apex. */
const skipped =
  /^(SOA|AMTRELAY|RESINFO|WALLET|HIP|DSYNC|EID|NIMLOC|GPOS|NSAP-PTR|NINFO|ISDN|PX|TALINK|TA|DLV|AVC|NSAP|ATMA|SINK|RKEY|HHIT|BRID|DOA) /

const valid = validData.map((line) => line.replace(/ => .*/, '')).filter((line) => !skipped.test(line))
const invalid = invalidData.filter((line) => !skipped.test(`${line} `))

/** No line breaks, parentheses and comments: each line stands alone in the files of BIND and NSD. */
const pieces = [
  ...String.raw`"" \ , = - 0 9 255 256 65535 65536 4294967296 . .. a F g / : :: ! @ * $ \. \065 \255 1h 1w2d _ + % # 1.1.1.1`.split(
    ' ',
  ),
  '',
  ' ',
  '\t',
  '\\# ',
  ' port=1',
  ' key10=a',
  ' mandatory=port',
  ' NSEC',
  'x'.repeat(64),
  ...'AAAA AA== 0m .5 -1 N TYPE1 00 0x'.split(' '),
]

/** Returns a generator of numbers below a bound (xorshift), the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

type Random = ReturnType<typeof createRandom>

function mutatedText(random: Random): string {
  const from = random(4) === 0 ? invalid : valid
  let line = from[random(from.length)]!
  const start = line.indexOf(' ') + 1
  for (let edits = 1 + random(2); edits > 0; edits--) {
    const at = start + random(line.length - start + 1)
    line = line.slice(0, at) + pieces[random(pieces.length)]! + line.slice(at + random(4))
  }
  return line
}

const samples = valid.map((line) => {
  const [mnemonic = '', ...data] = line.split(' ')
  return { mnemonic, rdata: parseRdata(findType(mnemonic)!, data.join(' '), { origin }) }
})

function mutatedOctets(random: Random): string {
  const { mnemonic, rdata } = samples[random(samples.length)]!
  let octets = [...rdata]
  for (let edits = 1 + random(3); edits > 0; edits--) {
    const at = random(octets.length + 1)
    octets = [
      ...octets.slice(0, at),
      ...[[], [random(256)], [0]][random(3)]!,
      ...octets.slice(at + random(3)),
    ]
  }
  return `${mnemonic} \\# ${octets.length} ${Buffer.from(octets).toString('hex')}`
}

/** The canonical text of the line's data; undefined if it is refused. */
function readLine(line: string): string | undefined {
  const { records, problems } = parseZoneFile(Buffer.from(`$TTL 60\nn ${line}\n`, 'latin1'), { origin })
  return problems.length > 0 ? undefined : printRdata(records[0]!.type, records[0]!.rdata)
}

/**
 * The parsers have no type ALIAS and refuse it. Refused here and accepted by parsers of files: a backslash in a list of
 * SVCB that escapes no character (RFC 9460 appendix A.1), brackets of NAPTR that BIND alone reads, and data that Knot
 * refuses at transfer or when it loads its own file.
 */
const stricter = /^ALIAS|^NAPTR .*\[|alpn=.*\\|^(?:LOC|APL|SSHFP|IPSECKEY|CSYNC) \\#|^IPSECKEY \d+ \d+ 0+ /

/** Returns whether the line can be in a file with others: no open quote, comment or joined line. */
function standsAlone(line: string): boolean {
  const { problems } = parseZoneFile(Buffer.from(`$TTL 60\nn ${line}\n`, 'latin1'), { origin })
  return (
    problems[0]?.code !== 'quote' &&
    !/[;()]/.test(line) &&
    !stricter.test(line) &&
    line.split('"').length % 2 === 1
  )
}

describe('mutated record data', { skip: skipWithout(...peerPrograms) }, () => {
  const parsers = new ZoneFilePeers()
  after(() => parsers[Symbol.dispose]())
  const firstLine = zoneFileHeader.split('\n').length

  for (const [kind, mutate] of [
    ['in text', mutatedText],
    ['as octets', mutatedOctets],
  ] as const) {
    it(`${kind} is accepted and refused as by four parsers that agree, in ${count} lines`, () => {
      const random = createRandom(testSeed | 1)
      const lines: string[] = []
      while (lines.length < count) {
        const line = mutate(random)
        if (standsAlone(line)) lines.push(line)
      }
      const read = lines.map(readLine)
      const file = zoneFileHeader + lines.map((line, at) => `n${at} ${line}\n`).join('')
      const [bind, nsd] = [parsers.run('bind', file), parsers.run('nsd', file)]
      const disagreed = lines.filter((line, at) => {
        const isRead = read[at] !== undefined
        const isAlone = [bind, nsd].every((result) => result.lines.has(firstLine + at) === isRead)
        return (
          isAlone &&
          zoneFilePeers.every(
            (peer) => parsers.run(peer, `${zoneFileHeader}n ${line}\n`).isAccepted !== isRead,
          )
        )
      })
      assert.deepEqual(disagreed, [])
      assert.ok(read.filter((text) => text !== undefined).length > count / 10, 'enough lines are valid')

      const both = lines.flatMap((line, at) =>
        read[at] !== undefined && !bind.lines.has(firstLine + at) ? [{ line, text: read[at] }] : [],
      )
      const printed = parsers.run(
        'bind',
        zoneFileHeader + both.map(({ line }, at) => `n${at} ${line}\n`).join(''),
      ).zone
      const { records } = parseZoneFile(Buffer.from(printed, 'latin1'), {
        origin,
        octetsMax: 1e9,
        recordsMax: 1e6,
      })
      const texts = new Map(records.map(({ name, type, rdata }) => [name as string, printRdata(type, rdata)]))
      for (const [at, { line, text }] of both.entries()) {
        // Times that BIND prints before 1970 are refused here.
        const theirs = texts.get(`n${at}.example.`) ?? text
        assert.equal(text, theirs, line)
      }
    })
  }
})
