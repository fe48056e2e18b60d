// One real gobgpd, started and restarted like the unit file in docs/operating does. It must not inject routes: the lab
// exists to test that.
import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { isRunning, killProgram, programPath, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)

export type Neighbor = {
  readonly address: string
  readonly port: number
  readonly asn: number
  readonly description?: string
}

export type GobgpdOptions = {
  /** Folder of its configuration and its log. */
  readonly folder: string
  readonly address: string
  readonly bgpPort: number
  readonly apiPort: number
  readonly asn: number
  readonly neighbors: readonly Neighbor[]
  /** Accepts sessions from any address in the prefix (dynamic neighbors), with this ASN. */
  readonly dynamic?: { readonly prefix: string; readonly asn: number }
  /** Delay before it announces to a neighbor after a restart, see docs/operating/gobgpd.toml. */
  readonly deferralSeconds?: number
  /** False starts it without its configuration: it answers the API, but has no BGP server. */
  readonly configured?: boolean
  /** Address families of its sessions, by GoBGP's names; unicast by default. */
  readonly families?: readonly string[]
  /** Restarts it when it dies, as systemd does. */
  readonly supervise?: boolean
}

/** A gobgpd process; `stop` ends it permanently. */
export class Gobgpd {
  readonly options: GobgpdOptions
  readonly #configFile: string
  #child: ChildProcess | undefined
  /** Client processes that have not ended. */
  readonly #clients = new Set<Promise<unknown>>()
  #wanted = false

  constructor(options: GobgpdOptions) {
    this.options = options
    this.#configFile = join(options.folder, 'gobgpd.toml')
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get apiAddress(): string {
    return `${this.options.address}:${this.options.apiPort}`
  }

  /** `restarted` adds `-r`: it notifies its neighbors of the restart, and they keep its routes. */
  async start({ restarted = false } = {}): Promise<void> {
    await writeFile(this.#configFile, gobgpdConfig(this.options))
    this.#wanted = true
    this.#spawn(restarted)
    await this.#answers()
  }

  /** Kills it; a supervised gobgpd is restarted, and this resolves when the new process answers. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.#child) return
    if (!this.options.supervise) this.#wanted = false
    await killProgram(this.#child, signal)
    if (this.options.supervise) await this.#answers()
  }

  async stop(): Promise<void> {
    this.#wanted = false
    if (this.#child) await killProgram(this.#child, 'SIGKILL')
    await Promise.allSettled(this.#clients)
  }

  /** Runs Debian's `gobgp` client against it and returns its output. */
  async gobgp(...args: string[]): Promise<string> {
    const { address, apiPort } = this.options
    const all = ['-u', address, '-p', String(apiPort), ...args]
    const client = run(programPath('gobgp'), all, { maxBuffer: 64 * 1024 * 1024 })
    this.#clients.add(client)
    try {
      return (await client).stdout
    } finally {
      this.#clients.delete(client)
    }
  }

  /** Adds or removes an export policy for all neighbors that rejects every route. */
  async rejectExports(rejects: boolean): Promise<void> {
    if (!rejects) {
      await this.gobgp('global', 'policy', 'export', 'del', 'give-nothing')
      return
    }
    await this.gobgp('policy', 'statement', 'add', 'to-nobody')
    await this.gobgp('policy', 'statement', 'to-nobody', 'add', 'action', 'reject')
    await this.gobgp('policy', 'add', 'give-nothing', 'to-nobody')
    await this.gobgp('global', 'policy', 'export', 'add', 'give-nothing', 'default', 'accept')
  }

  #spawn(restarted: boolean): void {
    const options = [
      ...(this.options.configured === false ? [] : ['-f', this.#configFile]),
      '--api-hosts',
      this.apiAddress,
      '--pprof-disable',
      '--log-plain',
      ...(restarted ? ['-r'] : []),
    ]
    const child = startProgram('gobgpd', options, join(this.options.folder, 'gobgpd.log'))
    this.#child = child
    child.once('exit', () => {
      if (this.options.supervise && this.#wanted && this.#child === child) this.#spawn(true)
    })
  }

  async #answers(): Promise<void> {
    await waitFor(`gobgpd at ${this.apiAddress} answers`, async () => {
      const child = this.#child
      if (child && !isRunning(child) && !this.options.supervise)
        throw new Error(`gobgpd ended, see ${this.options.folder}/gobgpd.log`)
      return (await this.#listens()) && (this.options.configured === false || this.#isConfigured())
    })
  }

  #listens(): Promise<boolean> {
    const { address, apiPort } = this.options
    return new Promise((resolve) => {
      const socket = connect(apiPort, address, () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  }

  #isConfigured(): Promise<boolean> {
    const line = new RegExp(`^AS:\\s+${this.options.asn}$`, 'm')
    return this.gobgp('global').then(
      (text) => line.test(text),
      () => false,
    )
  }
}

const unicast = ['ipv4-unicast', 'ipv6-unicast']
export const flowspecFamilies = ['ipv4-flowspec', 'ipv6-flowspec'] as const

/** The configuration of docs/operating/gobgpd.toml, which has the reasons, with the lab's addresses and ports. */
export function gobgpdConfig(options: GobgpdOptions): string {
  const { address, bgpPort, asn, neighbors, deferralSeconds = 3, families = unicast } = options
  const global = `
[global.config]
  as = ${asn}
  router-id = "${address}"
  port = ${bgpPort}
  local-address-list = ["${address}"]
`
  if (options.dynamic) return global + dynamicConfig(options.dynamic)
  if (neighbors.length === 0) return global
  const gate = neighborConfig({ address: gateAddress, port: 0, asn }, address, deferralSeconds, families)
  const real = neighbors.map((neighbor) => neighborConfig(neighbor, address, deferralSeconds, families))
  return [global, rejectImports(neighbors), gate, ...real].join('')
}

function dynamicConfig({ prefix, asn }: { readonly prefix: string; readonly asn: number }): string {
  const families = unicast.map(
    (name) => `
  [[peer-groups.afi-safis]]
    [peer-groups.afi-safis.config]
      afi-safi-name = "${name}"`,
  )
  return `
[[peer-groups]]
  [peer-groups.config]
    peer-group-name = "dynamic"
    peer-as = ${asn}
  [peer-groups.ebgp-multihop.config]
    enabled = true${families.join('')}
[[dynamic-neighbors]]
  [dynamic-neighbors.config]
    prefix = "${prefix}"
    peer-group = "dynamic"
`
}

/** Only with neighbors: a policy with an empty set of them matches, and rejects, everything. */
function rejectImports(neighbors: readonly Neighbor[]): string {
  return `
[global.apply-policy.config]
  import-policy-list = ["take-nothing"]
  default-import-policy = "accept-route"
[[defined-sets.neighbor-sets]]
  neighbor-set-name = "neighbors"
  neighbor-info-list = [${[gateAddress, ...neighbors.map(({ address }) => address)].map((address) => `"${address}"`).join(', ')}]
[[policy-definitions]]
  name = "take-nothing"
  [[policy-definitions.statements]]
    name = "from-neighbors"
    [policy-definitions.statements.conditions.match-neighbor-set]
      neighbor-set = "neighbors"
    [policy-definitions.statements.actions]
      route-disposition = "reject-route"
`
}

/** The restart gate, a neighbor that never connects. */
const gateAddress = '127.255.255.254'

/** Port 0: the gate, which is never dialled. */
function neighborConfig(
  { address, port, asn, description }: Neighbor,
  local: string,
  deferralSeconds: number,
  families: readonly string[],
): string {
  const transport =
    port === 0 ? 'passive-mode = true' : `remote-port = ${port}\n    local-address = "${local}"`
  return `
[[neighbors]]
  [neighbors.config]
    neighbor-address = "${address}"
    peer-as = ${asn}${description === undefined ? '' : `\n    description = "${description}"`}
  [neighbors.transport.config]
    ${transport}
  [neighbors.ebgp-multihop.config]
    enabled = true
  [neighbors.timers.config]
    hold-time = 30
    keepalive-interval = 10
  [neighbors.graceful-restart.config]
    enabled = true
    restart-time = 120
    deferral-time = ${deferralSeconds}
${families.map(familyConfig).join('')}`
}

function familyConfig(name: string): string {
  return `  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "${name}"
    [neighbors.afi-safis.mp-graceful-restart.config]
      enabled = true
`
}
