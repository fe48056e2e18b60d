// A validating resolver that starts from its own trust anchor, and queries servers at any port of loopback.
import type { ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { askResolver } from './dns-prober.ts'
import { killProgram, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

export type UnboundOptions = {
  readonly folder: string
  readonly port: number
  /** Lines of DNSKEY or DS records. */
  readonly anchor: string
  /**
   * Servers of zones by their ports of 127.0.0.1. A zone's DS record is queried from the zone above it. Names end with
   * a dot.
   */
  readonly zones: Readonly<Record<string, readonly number[]>>
  /** Upper limit of TTLs in the cache, in seconds; by default no limit. */
  readonly cacheSeconds?: number
}

export class Unbound {
  readonly options: UnboundOptions
  #child: ChildProcess | undefined

  constructor(options: UnboundOptions) {
    this.options = options
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const { folder, port, anchor, zones } = this.options
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'anchor.key'), `${anchor}\n`)
    const configFile = join(folder, 'unbound.conf')
    await writeFile(configFile, unboundConfig(this.options))
    this.#child = startProgram('unbound', ['-d', '-c', configFile], join(folder, 'out.log'))
    const [zone = '.'] = Object.keys(zones)
    await waitFor('the resolver answers', async () => (await askResolver(port, zone, 'SOA'))?.rcode === 0)
  }

  async stop(): Promise<void> {
    if (this.#child) await killProgram(this.#child, 'SIGKILL')
  }
}

/**
 * Sends every question to the zones' servers: answers are not derived from NSEC records, and failures are cached for a
 * second.
 */
const unboundConfig = ({ folder, port, zones, cacheSeconds }: UnboundOptions): string => `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  interface: 127.0.0.1
  port: ${port}
  do-ip6: no
  do-daemonize: no
  do-not-query-localhost: no
  unblock-lan-zones: yes
  trust-anchor-file: "${folder}/anchor.key"
  aggressive-nsec: no
  val-bogus-ttl: 1
  cache-max-negative-ttl: 1
  ${cacheSeconds === undefined ? '' : `cache-max-ttl: ${cacheSeconds}`}
  infra-host-ttl: 1
  num-threads: 1
  prefetch: no
  prefetch-key: no
${Object.keys(zones)
  .filter((zone) => zone !== '.')
  .map((zone) => `  local-zone: "${zone}" nodefault\n`)
  .join('')}remote-control:
  control-enable: no
${Object.entries(zones)
  .map(([zone, ports]) => {
    const servers = ports.map((port) => `  stub-addr: 127.0.0.1@${port}\n`).join('')
    return `stub-zone:\n  name: "${zone}"\n${servers}`
  })
  .join('')}`
