// Open vSwitch in user space in a namespace: a switch with a real agent of sFlow, which sends samples of packets and counters. It needs root.
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Namespace } from './namespace.ts'
import { killProgram, programPath, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)

export type OpenVswitch = {
  /** Sends UDP packets of `length` octets with their IP header into port `swp1`. */
  send(count: number, length: number): Promise<void>
  /** Octets with their Ethernet header that entered `swp1`, by the kernel. */
  entered(): Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

const schema = '/usr/share/openvswitch/vswitch.ovsschema'
const pollingSeconds = 2

/** Resolves when the switch has the ports `swp1` and `swp2`, and sends sFlow to `target`. */
export async function startOpenVswitch(
  folder: string,
  { command }: Namespace,
  target: string,
): Promise<OpenVswitch> {
  await using stack = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  const inside = async (...args: string[]) =>
    (await run(command[0]!, [...command.slice(1), ...args], { encoding: 'utf8' })).stdout
  const [database, socket] = [join(folder, 'conf.db'), `unix:${join(folder, 'db.sock')}`]
  const start = (name: 'ovsdb-server' | 'ovs-vswitchd', ...args: string[]): void => {
    const files = [`--pidfile=${join(folder, `${name}.pid`)}`, `--unixctl=${join(folder, `${name}.ctl`)}`]
    // Its other sockets, too, are in the folder.
    const program = [...command.slice(1), 'env', `OVS_RUNDIR=${folder}`, programPath(name), ...args, ...files]
    const child = startProgram('ip', program, join(folder, `${name}.log`))
    stack.defer(() => killProgram(child, 'SIGKILL'))
  }
  for (const port of ['1', '2']) {
    await inside('ip', 'link', 'add', `swp${port}`, 'type', 'veth', 'peer', 'name', `host${port}`)
    for (const device of [`swp${port}`, `host${port}`]) await inside('ip', 'link', 'set', device, 'up')
  }
  await inside('ip', 'address', 'add', '10.99.9.1/24', 'broadcast', '10.99.9.255', 'dev', 'host1')
  await run(programPath('ovsdb-tool'), ['create', database, schema])
  start('ovsdb-server', database, `--remote=p${socket}`)
  const control = (...args: string[]) =>
    run(programPath('ovs-vsctl'), [`--db=${socket}`, '--timeout=30', ...args])
  await waitFor(`ovsdb-server answers, see ${folder}`, () =>
    control('--no-wait', 'init').then(
      () => true,
      () => false,
    ),
  )
  start('ovs-vswitchd', socket)
  const bridge = ['add-br', 'br0', '--', 'set', 'bridge', 'br0', 'datapath_type=netdev']
  const ports = ['swp1', 'swp2'].flatMap((port) => ['--', 'add-port', 'br0', port])
  const settings = [
    'agent=lo',
    `targets="${target}"`,
    'header=128',
    'sampling=10',
    `polling=${pollingSeconds}`,
  ]
  const sflow = ['--', '--id=@s', 'create', 'sflow', ...settings, '--', 'set', 'bridge', 'br0', 'sflow=@s']
  await control(...bridge, ...ports, ...sflow)
  const disposal = stack.move()
  return {
    async send(count, length) {
      const script = `const s = require('node:dgram').createSocket('udp4')
        s.bind(() => { s.setBroadcast(true)
          let left = ${count}
          const next = () => left-- > 0 ? s.send(Buffer.alloc(${length - 28}), 9, '10.99.9.255', next) : s.close()
          next() })`
      await inside(process.execPath, '-e', script)
    },
    async entered() {
      const [link] = JSON.parse(await inside('ip', '-s', '-j', 'link', 'show', 'swp1')) as [
        { stats64: { rx: { bytes: number } } },
      ]
      return link.stats64.rx.bytes
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}
