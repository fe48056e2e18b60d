// One real RTR cache, Debian's stayrtr, over a VRP export that the lab writes: like an operator's cache, with RPKI data
// that can be changed at any time. It must not implement RTR itself.
import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunning, killProgram, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

/** As in the exports of rpki-client and Routinator. */
export type LabVrp = { readonly prefix: string; readonly maxLength: number; readonly asn: number }

export type StayrtrOptions = {
  /** Folder of its export and its log. */
  readonly folder: string
  readonly address: string
  readonly port: number
  /** TLS on a separate port, beside the plain one. Files in PEM. */
  readonly tls?: { readonly port: number; readonly certFile: string; readonly keyFile: string }
  /** The highest supported version of RTR: 0, 1 or 2. */
  readonly protocol?: 0 | 1 | 2
}

/** A stayrtr process. A new start is a new session, as with any cache that keeps no state. */
export class Stayrtr {
  readonly options: StayrtrOptions
  readonly #exportFile: string
  #child: ChildProcess | undefined

  constructor(options: StayrtrOptions) {
    this.options = options
    this.#exportFile = join(options.folder, 'vrps.json')
  }

  get logFile(): string {
    return join(this.options.folder, 'stayrtr.log')
  }

  /**
   * Sets its VRPs, running or not. A signal makes it reload and notify its routers immediately; without the signal it
   * would check once a second.
   */
  async setVrps(vrps: readonly LabVrp[]): Promise<void> {
    const roas = vrps.map(({ asn, ...vrp }) => ({ asn: `AS${asn}`, ...vrp, ta: 'lab' }))
    // Written to a temporary file, so that it never reads half of one.
    await writeFile(`${this.#exportFile}.new`, JSON.stringify({ metadata: {}, roas }))
    await rename(`${this.#exportFile}.new`, this.#exportFile)
    if (this.#child && isRunning(this.#child)) this.#child.kill('SIGHUP')
  }

  /** Only after the first `setVrps`. */
  async start(): Promise<void> {
    const { folder, address, port } = this.options
    this.#child = startProgram('stayrtr', this.#arguments(), join(folder, 'stayrtr.log'))
    await waitFor(`stayrtr at ${address}:${port} listens`, () => {
      if (this.#child && !isRunning(this.#child)) throw new Error(`stayrtr ended, see ${this.logFile}`)
      return listens(address, port)
    })
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#child) await killProgram(this.#child, signal)
  }

  async stop(): Promise<void> {
    await this.kill()
  }

  /** Without a check of the time: the lab's export has no timestamp. */
  #arguments(): string[] {
    const { address, port, tls, protocol = 2 } = this.options
    const options: Record<string, string> = {
      bind: `${address}:${port}`,
      cache: this.#exportFile,
      'metrics.addr': '',
      refresh: '1',
      checktime: 'false',
      protocol: String(protocol),
      ...(tls
        ? { 'tls.bind': `${address}:${tls.port}`, 'tls.cert': tls.certFile, 'tls.key': tls.keyFile }
        : {}),
    }
    return Object.entries(options).map(([name, value]) => `-${name}=${value}`)
  }
}

function listens(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address, () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
