// A real BIRD 2 as the neighbor of a gobgpd: its table is the proof of announcements. It accepts every route unchanged, whether or not
// the next hop is reachable.
import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Neighbor } from './gobgpd.ts'
import { BirdLog } from './bird-log.ts'
import { type BirdRoute, parseBirdRoutes } from './bird-routes.ts'
import { isRunning, killProgram, programPath, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)

export type BirdOptions = {
  readonly folder: string
  readonly address: string
  readonly port: number
  readonly asn: number
  readonly neighbor: Neighbor
  /** Hold time in seconds, after which a silent neighbor's session ends; 30 by default. */
  readonly holdSeconds?: number
  /** Receives rules of FlowSpec instead of routes, into the tables flow4 and flow6. */
  readonly flowspec?: boolean
  /** Routes of a family above which it ends the session permanently. */
  readonly receiveLimit?: number
  /** Prefixes that it announces itself, to check that they are not accepted. */
  readonly announces?: readonly string[]
}

/** A BIRD process; `start` and `stop` control it. */
export class Bird {
  readonly options: BirdOptions
  /** Socket of its control protocol, for birdc. */
  readonly socket: string
  readonly logFile: string
  #child: ChildProcess | undefined

  constructor(options: BirdOptions) {
    this.options = options
    // The socket's path must be short: a unix address has 107 octets.
    this.socket = join(options.folder, 'ctl')
    this.logFile = join(options.folder, 'bird.log')
  }

  /** No effect while it runs. */
  async start(): Promise<void> {
    if (this.#child && isRunning(this.#child)) return
    const { folder } = this.options
    const configFile = join(folder, 'bird.conf')
    await writeFile(configFile, birdConfig(this.options, this.logFile))
    const args = ['-f', '-c', configFile, '-s', this.socket, '-P', join(folder, 'bird.pid')]
    this.#child = startProgram('bird', args, join(folder, 'bird.out'))
    await waitFor('BIRD answers', () => this.birdc('show status').catch(() => undefined))
  }

  async stop(): Promise<void> {
    if (this.#child) await killProgram(this.#child, 'SIGKILL')
  }

  /** Runs one command of BIRD's client, read-only, and returns its output. */
  async birdc(command: string): Promise<string> {
    const args = ['-r', '-s', this.socket, ...command.split(' ')]
    return (await run(programPath('birdc'), args, { maxBuffer: 256 * 1024 * 1024 })).stdout
  }

  /** Routes that the neighbor announces to it now. */
  async routes(): Promise<BirdRoute[]> {
    return parseBirdRoutes(await this.birdc('show route all protocol pharos'))
  }

  async isEstablished(): Promise<boolean> {
    return (await this.birdc('show protocols pharos')).includes('Established')
  }

  /** Records all changes that it receives from now on, with their times. */
  watch(): BirdLog {
    return new BirdLog(this.logFile)
  }
}

/**
 * `debug routes` writes one line per change with microseconds when the UPDATE is handled: the proof of a neighbor's
 * received routes and times. The delays are the shortest that BIRD supports, the hardest case for a gobgpd that
 * restarts: the neighbor is back before its routes are. GoBGP drops a route whose next hop is in 127.0.0.0/8.
 */
function birdConfig(options: BirdOptions, logFile: string): string {
  const { address, port, asn, neighbor, holdSeconds = 30, announces = [], flowspec = false } = options
  const { receiveLimit } = options
  const limit = receiveLimit === undefined ? '' : `receive limit ${receiveLimit} action disable; `
  const channels = flowspec
    ? 'flow4 { table flow4tab; import all; }; flow6 { table flow6tab; import all; };'
    : `ipv4 { ${limit}import all; export where source = RTS_STATIC; next hop address 192.0.2.254; };
  ipv6 { ${limit}import all; export where source = RTS_STATIC; next hop address 2001:db8::fe; };`
  const statics = (family: '4' | '6') =>
    announces
      .filter((prefix) => prefix.includes(':') === (family === '6'))
      .map((prefix) => `route ${prefix} blackhole;`)
      .join(' ')
  return `
log "${logFile}" all;
timeformat log iso long us;
timeformat protocol iso long us;
timeformat route iso long us;
router id ${address};
${flowspec ? 'flow4 table flow4tab;\nflow6 table flow6tab;' : ''}
protocol device {}
protocol static own4 { ipv4; ${statics('4')} }
protocol static own6 { ipv6; ${statics('6')} }
protocol bgp pharos {
  local ${address} port ${port} as ${asn};
  neighbor ${neighbor.address} port ${neighbor.port} as ${neighbor.asn};
  multihop; strict bind;
  connect delay time 1; connect retry time 1; error wait time 1, 1;
  hold time ${holdSeconds};
  graceful restart on;
  debug { routes, states, events };
  ${channels}
}
`
}
