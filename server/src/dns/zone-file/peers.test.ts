// The corpus in the parsers of four name servers: they read the printed file to the same records, and at least one
// parser shares each refusal.
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { skipWithout } from '@pharos/lab/program'
import { parseName } from '../../net/dns/name.ts'
import { invalidData, validData } from '../../net/dns/rdata/testing-corpus.ts'
import { collectSets } from './check-zone.ts'
import { printZoneFile } from './print.ts'
import { ZoneFilePeers, zoneFileHeader, peerPrograms, zoneFilePeers } from './testing-peers.ts'
import { parseZoneFile } from './zone-file.ts'

const origin = parseName('example')
/** The line of the first record after the header. */
const firstLine = zoneFileHeader.split('\n').length

/** Types and SVCB keys that the versions of Debian 12 do not read; ldns no CSYNC without types. */
const later = ['AMTRELAY', 'RESINFO', 'WALLET', 'DSYNC']
const old = ['EID', 'NIMLOC', 'GPOS', 'NSAP-PTR', 'NINFO', 'ISDN', 'PX', 'TALINK', 'TA', 'DLV', 'AVC']
const opaque = ['NSAP', 'ATMA', 'SINK', 'RKEY', 'HHIT', 'BRID', 'DOA', 'ALIAS']
const unknown = {
  bind: opaque,
  ldns: [...later, 'CSYNC', 'NSAP-PTR', 'NINFO', 'TA', 'AVC', ...opaque],
  knot: [...later, ...old, ...opaque, 'HIP', 'X25', 'dohpath'],
  nsd: [...later, ...old, ...opaque, 'HIP'],
}
/**
 * The zone of the corpus without the types that a peer does not support, one name per line, with the SOA of the header.
 */
function corpusZone(without: readonly string[]): string {
  const lines = validData
    .map((line) => line.replace(/ => .*/, ''))
    .filter(
      (line) =>
        !['SOA', ...without].some((word) => line.startsWith(`${word} `) || line.includes(` ${word}=`)),
    )
  return zoneFileHeader + lines.map((line, at) => `n${at} ${line}\n`).join('')
}

function canonical(text: string): string {
  const { records, problems } = parseZoneFile(Buffer.from(text, 'latin1'), { origin })
  assert.deepEqual(problems, [])
  return [...printZoneFile(collectSets(records).sets)].join('')
}

describe('zone files at other parsers', { skip: skipWithout(...peerPrograms) }, () => {
  const parsers = new ZoneFilePeers()
  after(() => parsers[Symbol.dispose]())

  for (const peer of zoneFilePeers) {
    it(`printed here are accepted by ${peer}`, () => {
      const { isAccepted, messages } = parsers.run(peer, canonical(corpusZone(unknown[peer])))
      assert.ok(isAccepted, messages)
    })
  }

  it('printed here are the same records at BIND and at ldns', () => {
    for (const peer of ['bind', 'ldns'] as const) {
      const zone = canonical(corpusZone(unknown[peer]))
      assert.equal(canonical(parsers.run(peer, zone).zone), zone)
    }
  })

  it('are the same records here and at BIND, in the spelling of the corpus', () => {
    const zone = corpusZone(unknown.bind)
    assert.equal(canonical(parsers.run('bind', zone).zone), canonical(zone))
  })

  it('refused here are refused by one of them', () => {
    const lines = invalidData.map((line, at) => `n${at} ${line}\n`)
    const refused = new Set<number>()
    for (const peer of ['bind', 'nsd'] as const) {
      for (const line of parsers.run(peer, zoneFileHeader + lines.join('')).lines)
        refused.add(line - firstLine)
    }
    const left = lines.filter((_, at) => !refused.has(at))
    const accepted = left.filter((line) =>
      zoneFilePeers.every((peer) => parsers.run(peer, zoneFileHeader + line).isAccepted),
    )
    assert.deepEqual(accepted, [], 'accepted by all four')
  })
})
