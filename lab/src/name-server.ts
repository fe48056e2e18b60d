// A real NSD that serves the zones in which teams publish records. It does not resolve: it knows the given records, by default
// under `arpa`, and refuses everything else.
import type { ChildProcess } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, randomSubnet } from './address.ts'
import { isRunning, killProgram, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

export type TxtRecord = {
  /** Without the final dot: `_pharos-asn.113.0.203.in-addr.arpa`. */
  readonly name: string
  /** One text, or the strings of the record. */
  readonly text: string | readonly string[]
}

/** An alias of another name (CNAME); both without the final dot. */
export type AliasRecord = { readonly name: string; readonly alias: string }

export type NameRecord = TxtRecord | AliasRecord

const zoneFile = 'records.zone'

export type NameServerOptions = {
  readonly folder: string
  readonly address: string
  readonly port: number
  /** Zones that it serves; default `arpa`. */
  readonly zone?: string
  /** Zones without data, answered with SERVFAIL. */
  readonly failing?: readonly string[]
}

/** An NSD process; `start` and `stop` control it. */
export class NameServer {
  readonly options: NameServerOptions
  #child: ChildProcess | undefined
  #records: readonly NameRecord[] = []
  #serial = 0

  constructor(options: NameServerOptions) {
    this.options = options
  }

  /** Its address for Pharos' settings. */
  get server(): string {
    return `${this.options.address}:${this.options.port}`
  }

  get #zone(): string {
    return this.options.zone ?? 'arpa'
  }

  async start(): Promise<void> {
    const { folder } = this.options
    const configFile = join(folder, 'nsd.conf')
    await writeFile(configFile, nsdConfig(this.options))
    await this.#writeZone()
    this.#child = startProgram('nsd', ['-d', '-c', configFile], join(folder, 'nsd.out'))
    await this.#serves()
  }

  async stop(): Promise<void> {
    if (this.#child) await killProgram(this.#child, 'SIGTERM')
  }

  /** Replaces all records; resolves when the new ones are served. */
  async setRecords(records: readonly NameRecord[]): Promise<void> {
    this.#records = records
    if (!this.#child || !isRunning(this.#child)) return
    await this.#writeZone()
    this.#child.kill('SIGHUP')
    await this.#serves()
  }

  #writeZone(): Promise<void> {
    this.#serial++
    const text = zoneOf(this.#zone, this.#serial, this.#records)
    return writeFile(join(this.options.folder, zoneFile), text)
  }

  /**
   * NSD serves the old zone until the new one is read, and for a moment the old process answers beside its successor:
   * only the same answer several times in a row proves that the old one has ended.
   */
  async #serves(): Promise<void> {
    const resolver = new Resolver({ timeout: 250, tries: 1 })
    resolver.setServers([this.server])
    const serial = () =>
      resolver.resolveSoa(this.#zone).then(
        (soa) => soa.serial,
        () => undefined,
      )
    let inARow = 0
    await waitFor('NSD serves the zone', async () => {
      inARow = (await serial()) === this.#serial ? inARow + 1 : 0
      return inARow >= 5
    })
  }
}

/** Starts a separate name server for a test: in a temporary folder, at a free port, deleted at the end of the scope. */
export async function startNameServer(
  options: Pick<NameServerOptions, 'zone' | 'failing'> = {},
): Promise<NameServer & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-nsd-'))
  const address = `${randomSubnet()}.53`
  const server = new NameServer({ ...options, folder, address, port: await freePort(address, 5300) })
  const dispose = async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  await server.start().catch(async (error: Error) => {
    await dispose()
    throw error
  })
  return Object.assign(server, { [Symbol.asyncDispose]: dispose })
}

/** Configuration: one process, no control port, its files in the lab's folder, no change of user. */
function nsdConfig({ folder, address, port, zone = 'arpa', failing = [] }: NameServerOptions): string {
  const zones = [[zone, zoneFile], ...failing.map((name) => [name, 'there-is-none.zone'])]
  return `
server:
  ip-address: ${address}@${port}
  username: ""
  chroot: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: "${join(folder, 'nsd.pid')}"
  xfrdfile: "${join(folder, 'xfrd.state')}"
  zonelistfile: "${join(folder, 'zone.list')}"
  xfrdir: "${folder}"
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${zones.map(([name, file]) => `zone:\n  name: "${name}"\n  zonefile: "${file}"\n`).join('')}`
}

function zoneOf(zone: string, serial: number, records: readonly NameRecord[]): string {
  return [
    `${zone}. 60 IN SOA ns.${zone}. hostmaster.${zone}. ${serial} 3600 600 86400 60`,
    `${zone}. 60 IN NS ns.${zone}.`,
    `ns.${zone}. 60 IN A 127.0.0.1`,
    ...records.map(lineOf),
    '',
  ].join('\n')
}

function lineOf(record: NameRecord): string {
  return 'alias' in record
    ? `${record.name}. 60 IN CNAME ${record.alias}.`
    : `${record.name}. 60 IN TXT ${stringsOf(record.text)}`
}

/** A string of DNS has at most 255 octets; a longer text is several, which readers join. */
function stringsOf(text: TxtRecord['text']): string {
  const parts = typeof text === 'string' ? (text.match(/.{1,255}/gs) ?? ['']) : text
  return parts.map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ')
}
