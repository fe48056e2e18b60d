// Separate machines as far as the network is concerned: network namespaces with a link to this machine, which can be set
// down without either end being notified. They need root.
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import { findProgram } from './program.ts'

const run = promisify(execFile)

/** Like skipWithout(): false if namespaces can be created, otherwise the reason. */
export function skipWithoutNamespaces(): string | false {
  if (process.env['PHAROS_TEST_REQUIRE_PEERS'] === '1') return false
  if (process.getuid?.() !== 0) return 'network namespaces need root'
  return findProgram('ip') === undefined && 'iproute2 is not installed'
}

/** A machine alone with this one; created by `createNamespace`. */
export type Namespace = Machine & {
  /** The /24 of its network, such as `198.18.7`; `.1` and `.2` belong to this machine. */
  readonly subnet: string
  [Symbol.asyncDispose](): Promise<void>
}

export async function createNamespace(): Promise<Namespace> {
  const { subnet, machines, [Symbol.asyncDispose]: remove } = await createMachines(1)
  return { ...machines[0]!, subnet, [Symbol.asyncDispose]: remove }
}

/** Machines that reach each other and this one; created by `createMachines`. */
export type Machines = {
  /** The /24 of their network. */
  readonly subnet: string
  /** The address of this machine on their network. */
  readonly here: string
  readonly machines: readonly Machine[]
  [Symbol.asyncDispose](): Promise<void>
}

export type Machine = {
  readonly address: string
  /** The command line that runs a program in it, without the program. */
  readonly command: readonly string[]
  /** Link on its side: this machine keeps its addresses, and its neighbors their services at them. */
  setLink(state: 'up' | 'down'): Promise<void>
  /** Sends the signal to every process in it. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
}

/** The third octet of the next network: two of a process differ. */
let next = randomInt(1, 255)

/** Namespaces on one bridge, from 198.18.0.0/15, which is reserved for benchmarks (RFC 2544) and not routed. */
export async function createMachines(count: number): Promise<Machines> {
  const number = next
  next = (next % 254) + 1
  const bridge = `ph${process.pid}-${number}`
  const subnet = `198.18.${number}`
  const here = `${subnet}.1`
  const names = Array.from({ length: count }, (_, at) => `pharos-lab-${process.pid}-${number}-${at}`)
  const ip = async (...args: string[]) => (await run('ip', args)).stdout
  const signal = async (name: string, kind: NodeJS.Signals) => {
    for (const pid of (await ip('netns', 'pids', name)).split('\n').filter(Boolean)) send(Number(pid), kind)
  }
  const remove = async () => {
    for (const name of names) {
      await signal(name, 'SIGKILL').catch(() => {})
      await ip('netns', 'delete', name).catch(() => {})
    }
    await ip('link', 'delete', bridge).catch(() => {})
  }
  try {
    await ip('link', 'add', bridge, 'type', 'bridge')
    for (const own of [here, `${subnet}.2`]) await ip('address', 'add', `${own}/24`, 'dev', bridge)
    await ip('link', 'set', bridge, 'up')
    for (const [at, name] of names.entries()) {
      const port = `${bridge}-${at}`
      await ip('netns', 'add', name)
      await ip('link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
      await ip('link', 'set', port, 'master', bridge, 'up')
      await ip('-n', name, 'address', 'add', `${subnet}.${at + 11}/24`, 'dev', 'eth0')
      for (const device of ['lo', 'eth0']) await ip('-n', name, 'link', 'set', device, 'up')
    }
  } catch (error) {
    await remove()
    throw error
  }
  return {
    subnet,
    here,
    machines: names.map((name, at) => ({
      address: `${subnet}.${at + 11}`,
      command: ['ip', 'netns', 'exec', name],
      setLink: async (state) => void (await ip('-n', name, 'link', 'set', 'eth0', state)),
      signal: (kind) => signal(name, kind),
    })),
    [Symbol.asyncDispose]: remove,
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended in the meantime.
  }
}
