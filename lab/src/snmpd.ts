// One real SNMP agent, Debian's snmpd, over the counters of this machine's kernel or of a network namespace. It serves SNMPv2c with
// the community `public`, and users of SNMPv3.
import type { ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { killProgram, programPath, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

/** Names of protocols as in snmpd: `SHA-256`, `AES`, `AES-256` (Blumenthal), `AES-256-C` (Reeder). */
export type SnmpdUser = {
  readonly name: string
  readonly auth?: string
  readonly authPassword?: string
  readonly privacy?: string
  readonly privacyPassword?: string
  /** The lowest security level that may read. */
  readonly level: 'noauth' | 'auth' | 'priv'
}

export type SnmpdOptions = {
  /** Folder of its configuration, its state and its log. */
  readonly folder: string
  readonly address: string
  readonly port: number
  readonly users?: readonly SnmpdUser[]
  /** The command of a namespace. */
  readonly within?: readonly string[]
}

/** The engine and its number of boots are kept in the folder: a new start is a restart of the same device. */
export class Snmpd {
  readonly options: SnmpdOptions
  #child: ChildProcess | undefined

  constructor(options: SnmpdOptions) {
    this.options = options
  }

  async start(): Promise<void> {
    const { folder, within = [] } = this.options
    const [file, log] = [join(folder, 'snmpd.conf'), join(folder, 'snmpd.log')]
    mkdirSync(join(folder, 'state'), { recursive: true })
    writeFileSync(file, this.#config())
    const args = ['-f', '-LO', 'w', '-C', '-c', file, '-p', join(folder, 'pid')]
    this.#child =
      within.length === 0
        ? startProgram('snmpd', args, log)
        : startProgram('ip', [...within.slice(1), programPath('snmpd'), ...args], log)
    await waitFor(`snmpd answers, see ${log}`, () => this.#answers())
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#child) await killProgram(this.#child, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  #config(): string {
    const { folder, address, port, users = [] } = this.options
    const userLines = users.flatMap(({ name, level, ...keys }) => [
      `createUser ${[name, keys.auth, keys.authPassword, keys.privacy, keys.privacyPassword].filter(Boolean).join(' ')}`,
      `rouser ${name} ${level}`,
    ])
    return [
      `[snmp] persistentDir ${join(folder, 'state')}`,
      `agentaddress udp:${address}:${port}`,
      'rocommunity public',
      ...userLines,
      '',
    ].join('\n')
  }

  /** The discovery of an engine (RFC 3414 section 4), which is answered without a user. */
  async #answers(): Promise<boolean> {
    const { address, port } = this.options
    const socket = createSocket('udp4')
    socket.on('error', () => undefined)
    const answered = Promise.race([
      once(socket, 'message').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 200)),
    ])
    socket.send(discovery, port, address)
    const result = await answered
    socket.close()
    return result
  }
}

const discovery = Buffer.from(
  '303a020103300f02020bb8020300ffe30401040201030410300e0400020100020100040004000400301204000400a00c020203e80201000201003000',
  'hex',
)

/** Returns a port of UDP that was free a moment ago. */
export async function freeUdpPort(address: string): Promise<number> {
  const socket = createSocket('udp4').bind(0, address)
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}
