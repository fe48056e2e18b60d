// A signed zone in which delegations and DS records are entered, as the operator of a parent zone does: Knot, which signs by itself. Its TTLs are
// seconds, so that caches expire within a test.
import { execFile } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { killProgram, programPath, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)

export type SignedParentOptions = {
  readonly folder: string
  readonly port: number
  /** With the final dot. */
  readonly zone: string
  /** Lines of the zone file besides SOA and NS. */
  readonly records: readonly string[]
  readonly ttl: number
}

export class SignedParent {
  readonly options: SignedParentOptions
  #child: ChildProcess | undefined
  #anchor = ''

  constructor(options: SignedParentOptions) {
    this.options = options
  }

  /** Its DNSKEY records as lines of a zone file: the trust anchor of resolvers. */
  get anchor(): string {
    return this.#anchor
  }

  get configFile(): string {
    return join(this.options.folder, 'knot.conf')
  }

  /** Resolves when it is signed. */
  async start(): Promise<void> {
    const { folder, zone } = this.options
    await mkdir(join(folder, 'db'), { recursive: true })
    await writeFile(join(folder, 'parent.zone'), zoneText(this.options))
    await writeFile(this.configFile, knotConfig(this.options))
    this.#child = startProgram('knotd', ['-c', this.configFile], join(folder, 'out.log'))
    this.#anchor = await waitFor('the parent is signed', async () => {
      const lines = await this.#knotc('zone-read', zone, zone, 'DNSKEY').catch(() => '')
      return /^\[.*?\] (.* DNSKEY .*)$/m.exec(lines)?.[1]
    })
  }

  /** Replaces a record set; without data it is removed. */
  async set(owner: string, type: string, data: readonly string[], ttl = this.options.ttl): Promise<void> {
    const { zone } = this.options
    await this.#knotc('zone-begin', zone)
    await this.#knotc('zone-unset', zone, owner, type).catch(() => {})
    for (const one of data) await this.#knotc('zone-set', zone, owner, String(ttl), type, one)
    await this.#knotc('zone-commit', zone)
  }

  async stop(): Promise<void> {
    if (this.#child) await killProgram(this.#child, 'SIGKILL')
  }

  async #knotc(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(programPath('knotc'), ['-c', this.configFile, ...args])
    return stdout
  }
}

const zoneText = ({ zone, ttl, records }: SignedParentOptions): string => `$ORIGIN ${zone}
$TTL ${ttl}
@ SOA ns.parent.invalid. hostmaster.parent.invalid. 1 3600 900 1209600 1
@ NS ns.parent.invalid.
${records.join('\n')}
`

const knotConfig = ({ folder, port, zone, ttl }: SignedParentOptions): string => `server:
  rundir: "${folder}"
  listen: 127.0.0.1@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
control:
  listen: "${folder}/knot.sock"
log:
  - target: stderr
    any: info
database:
  storage: "${folder}/db"
policy:
  - id: quick
    single-type-signing: on
    dnskey-ttl: ${ttl}
    nsec3: off
zone:
  - domain: "${zone}"
    storage: "${folder}"
    file: parent.zone
    dnssec-signing: on
    dnssec-policy: quick
    zonefile-sync: -1
    zonefile-load: difference
    journal-content: all
`
