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

/** A namespace with its link; created by `createNamespace`. */
export type Namespace = {
  /** The /24 of the link, such as `198.19.7`; `.1` and `.2` belong to this machine. */
  readonly subnet: string
  /** The namespace's own address. */
  readonly address: string
  /** The command line that runs a program in it, without the program. */
  readonly command: readonly string[]
  setLink(state: 'up' | 'down'): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** From 198.18.0.0/15, which is reserved for benchmarks (RFC 2544) and not routed. */
export async function createNamespace(): Promise<Namespace> {
  const number = randomInt(1, 255)
  const name = `pharos-lab-${process.pid}-${number}`
  const [here, there] = [`ph${process.pid}-${number}a`, `ph${process.pid}-${number}b`]
  const subnet = `198.19.${number}`
  const address = `${subnet}.3`
  const ip = async (...args: string[]) => void (await run('ip', args))
  const remove = () => ip('netns', 'delete', name)
  await ip('netns', 'add', name)
  try {
    await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name)
    for (const own of [`${subnet}.1/24`, `${subnet}.2/24`]) await ip('address', 'add', own, 'dev', here)
    await ip('link', 'set', here, 'up')
    await ip('-n', name, 'address', 'add', `${address}/24`, 'dev', there)
    for (const device of ['lo', there]) await ip('-n', name, 'link', 'set', device, 'up')
  } catch (error) {
    await remove()
    throw error
  }
  return {
    subnet,
    address,
    command: ['ip', 'netns', 'exec', name],
    // Set down on its side: this machine keeps its addresses, and its neighbors their services at them.
    setLink: (state) => ip('-n', name, 'link', 'set', there, state),
    [Symbol.asyncDispose]: remove,
  }
}

/** Machines that reach each other and this one; created by `createMachines`. */
export type Machines = {
  /** The address of this machine on their network. */
  readonly here: string
  readonly machines: readonly Machine[]
  [Symbol.asyncDispose](): Promise<void>
}

export type Machine = Omit<Namespace, 'subnet' | typeof Symbol.asyncDispose> & {
  /** Sends the signal to every process in it. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
}

/** Namespaces on one bridge. */
export async function createMachines(count: number): Promise<Machines> {
  const number = randomInt(1, 255)
  const bridge = `ph${process.pid}-${number}`
  const [subnet, here] = [`198.18.${number}`, `198.18.${number}.1`]
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
    await ip('address', 'add', `${here}/24`, 'dev', bridge)
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
    // It has ended meanwhile.
  }
}
