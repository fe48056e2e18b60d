// The same corpus at four name servers' parsers: they read the printed file to the same records, and each refusal is shared by one of them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { programPath, skipWithout } from '@pharos/lab/program'
import { parseName } from '../../net/dns/name.ts'
import { invalidData, validData } from '../../net/dns/rdata/testing-corpus.ts'
import { collectSets } from './check-zone.ts'
import { printZoneFile } from './print.ts'
import { parseZoneFile } from './zone-file.ts'

const origin = parseName('example')
const header = '$TTL 60\n@ SOA ns hostmaster 1 7200 3600 1209600 3600\n@ NS ns\nns A 192.0.2.1\n'
const headerLines = 4

/** Types and SVCB keys that the versions of Debian 12 do not read; ldns no CSYNC without types. */
const later = ['AMTRELAY', 'RESINFO', 'WALLET', 'DSYNC']
const old = ['EID', 'NIMLOC', 'GPOS', 'NSAP-PTR', 'NINFO', 'ISDN', 'PX', 'TALINK', 'TA', 'DLV', 'AVC']
const unknown = {
  bind: [],
  ldns: [...later, 'CSYNC', 'NSAP-PTR', 'NINFO', 'TA', 'AVC'],
  knot: [...later, ...old, 'HIP', 'X25', 'dohpath'],
  nsd: [...later, ...old, 'HIP'],
}
type Peer = keyof typeof unknown

const folder = mkdtempSync(join(tmpdir(), 'pharos-zone-file-'))

type Result = { readonly isAccepted: boolean; readonly output: string }

const compileOptions =
  '-k ignore -n ignore -m ignore -r ignore -i none -M ignore -S ignore -W ignore -T ignore'.split(' ')

function run(peer: Peer, text: string): Result {
  const file = join(folder, 'zone')
  writeFileSync(file, text, 'latin1')
  const commands = {
    bind: ['named-compilezone', ...compileOptions, '-o', '-', 'example.', file],
    ldns: ['ldns-read-zone', file],
    knot: ['kzonecheck', '-o', 'example.', file],
    nsd: ['nsd-checkzone', 'example.', file],
  } as const
  const [program, ...args] = commands[peer]
  const { status, stdout, stderr } = spawnSync(programPath(program), args, {
    encoding: 'latin1',
    maxBuffer: 50_000_000,
  })
  // kzonecheck has the same status for semantic errors, which are none of a parser.
  const isAccepted = peer === 'knot' ? !/failed to run semantic checks/.test(stderr) : status === 0
  return {
    isAccepted,
    output: peer === 'bind' || peer === 'ldns' ? stdout + (isAccepted ? '' : stderr) : stdout + stderr,
  }
}

/** The zone of the corpus without the types that a peer does not know, a name for each line. SOA is that of the header. */
function corpusZone(without: readonly string[]): string {
  const lines = validData
    .map((line) => line.replace(/ => .*/, ''))
    .filter(
      (line) =>
        !['SOA', ...without].some((word) => line.startsWith(`${word} `) || line.includes(` ${word}=`)),
    )
  return header + lines.map((line, at) => `n${at} ${line}\n`).join('')
}

function canonical(text: string): string {
  const { records, problems } = parseZoneFile(Buffer.from(text, 'latin1'), { origin })
  assert.deepEqual(problems, [])
  return [...printZoneFile(collectSets(records).sets)].join('')
}

const programs = ['named-compilezone', 'ldns-read-zone', 'kzonecheck', 'nsd-checkzone'] as const

describe('zone files at other parsers', { skip: skipWithout(...programs) }, () => {
  after(() => rmSync(folder, { recursive: true }))

  for (const peer of Object.keys(unknown) as Peer[]) {
    it(`printed here are accepted by ${peer}`, () => {
      const { isAccepted, output } = run(peer, canonical(corpusZone(unknown[peer])))
      assert.ok(isAccepted, output)
    })
  }

  it('printed here are the same records at BIND and at ldns', () => {
    const zone = canonical(corpusZone(unknown.bind))
    assert.equal(canonical(run('bind', zone).output), zone)
    const forLdns = canonical(corpusZone(unknown.ldns))
    assert.equal(canonical(run('ldns', forLdns).output), forLdns)
  })

  it('are the same records here and at BIND, in the spelling of the corpus', () => {
    const zone = corpusZone(unknown.bind)
    assert.equal(canonical(run('bind', `$ORIGIN example.\n${zone}`).output), canonical(zone))
  })

  it('refused here are refused by one of them', () => {
    const lines = invalidData.map((line, at) => `n${at} ${line}\n`)
    const refused = new Set<number>()
    // Both go on after an error, and say its line.
    for (const peer of ['bind', 'nsd'] as const) {
      const { output } = run(peer, `$ORIGIN example.\n${header}${lines.join('')}`)
      for (const [, line] of output.matchAll(/zone:(\d+):/g)) refused.add(Number(line) - headerLines - 2)
    }
    const left = lines.filter((_, at) => !refused.has(at))
    assert.ok(left.length < 30, `${left.length} lines`)
    const alone = left.filter((line) =>
      (['bind', 'ldns', 'knot', 'nsd'] as const).every(
        (peer) => run(peer, `$ORIGIN example.\n${header}${line}`).isAccepted,
      ),
    )
    assert.deepEqual(alone, [], 'accepted by all four')
  })
})
