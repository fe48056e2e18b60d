// For tests: the zone file parsers of four name servers. The servers are not started.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '@pharos/lab/program'

export type ZoneFilePeer = 'bind' | 'ldns' | 'knot' | 'nsd'
export const zoneFilePeers: readonly ZoneFilePeer[] = ['bind', 'ldns', 'knot', 'nsd']
export const peerPrograms = ['named-compilezone', 'ldns-read-zone', 'kzonecheck', 'nsd-checkzone'] as const

/** The start of each file. The zone is `example.` */
export const zoneFileHeader =
  '$ORIGIN example.\n$TTL 60\n@ SOA ns hostmaster 1 7200 3600 1209600 3600\n@ NS ns\nns A 192.0.2.1\n'

/** Without checks of records against each other. */
const compileOptions =
  '-k ignore -n ignore -m ignore -r ignore -i none -M ignore -S ignore -W ignore -T ignore'.split(' ')

export type Result = {
  readonly isAccepted: boolean
  /** The zone as BIND and ldns print it; empty for the others. */
  readonly zone: string
  /** Lines with an error, from 1. BIND and NSD continue after one. */
  readonly lines: ReadonlySet<number>
  readonly messages: string
}

/** Runs the parsers on files in a temporary folder. */
export class ZoneFilePeers implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pharos-zone-file-'))

  run(peer: ZoneFilePeer, text: string): Result {
    const file = join(this.#folder, 'zone')
    writeFileSync(file, text, 'latin1')
    const commands = {
      bind: ['named-compilezone', ...compileOptions, '-o', '-', 'example.', file],
      ldns: ['ldns-read-zone', file],
      knot: ['kzonecheck', '-o', 'example.', file],
      nsd: ['nsd-checkzone', 'example.', file],
    } as const
    const [program, ...args] = commands[peer]
    const options = { encoding: 'latin1', maxBuffer: 500_000_000 } as const
    const { status, stdout, stderr } = spawnSync(programPath(program), args, options)
    const messages = stdout + stderr
    // kzonecheck returns the same status for semantic errors, which do not count as parser errors.
    const isAccepted = peer === 'knot' ? !/failed to run semantic checks/.test(stderr) : status === 0
    const zone = peer === 'bind' || peer === 'ldns' ? stdout : ''
    const errors = peer === 'nsd' ? /error: .*\/zone:(\d+):/g : /\/zone:(\d+):/g
    return {
      isAccepted,
      zone,
      lines: new Set([...messages.matchAll(errors)].map(([, line]) => Number(line))),
      messages,
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true })
  }
}
