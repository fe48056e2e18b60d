// A port that carries real traffic: a veth pair between two namespaces, and iperf3 over it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Namespace } from './namespace.ts'
import { killProgram, programPath, startProgram } from './program.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)

const within = ({ command }: Namespace, ...rest: string[]): string[] => [...command.slice(1), ...rest]

/** `port0` of the device and `uplink` of the customer; without IPv6, whose own packets would move the counters. */
export async function connectPort(device: Namespace, customer: Namespace): Promise<void> {
  const ends = [
    { namespace: device, name: 'port0', address: '198.18.0.1/30' },
    { namespace: customer, name: 'uplink', address: '198.18.0.2/30' },
  ]
  const peer = ['peer', 'name', 'uplink', 'netns', customer.command.at(-1)!]
  await run('ip', ['link', 'add', 'port0', 'netns', device.command.at(-1)!, 'type', 'veth', ...peer])
  for (const { namespace, name, address } of ends) {
    await run('ip', within(namespace, 'sysctl', '-qw', `net.ipv6.conf.${name}.disable_ipv6=1`))
    await run('ip', within(namespace, 'ip', 'address', 'add', address, 'dev', name))
    await run('ip', within(namespace, 'ip', 'link', 'set', name, 'up'))
  }
}

/** Sends from the customer to the device. Resolves when iperf3 has sent all, which may be a little before it has arrived. */
export async function sendOctets(
  device: Namespace,
  customer: Namespace,
  octets: number,
  folder: string,
): Promise<void> {
  const args = within(device, programPath('iperf3'), '-s', '-1')
  const server = startProgram('ip', args, join(folder, 'iperf3.log'))
  const send = within(customer, programPath('iperf3'), '-c', '198.18.0.1', '-n', String(octets))
  await waitFor('iperf3 has sent', () =>
    run('ip', send).then(
      () => true,
      () => false,
    ),
  )
  await killProgram(server, 'SIGKILL')
}

/** Octets that the kernel of the device has counted on the port. */
export async function kernelCounter(device: Namespace, direction: 'rx' | 'tx'): Promise<bigint> {
  const file = `/sys/class/net/port0/statistics/${direction}_bytes`
  const { stdout } = await run('ip', within(device, 'cat', file))
  return BigInt(stdout.trim())
}
