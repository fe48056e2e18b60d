// Octets of real traffic: iperf3 between two namespaces over a veth pair, counted by the kernel and read by SNMP from an snmpd in one
// of them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { SnmpCredential } from '../../server/src/drivers/snmp/credential.ts'
import { createSnmpSource } from '../../server/src/drivers/snmp/source.ts'
import { createNamespace, skipWithoutNamespaces } from './namespace.ts'
import { programPath, skipWithout, startProgram, killProgram } from './program.ts'
import { Snmpd } from './snmpd.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)
const skip = skipWithout('snmpd', 'iperf3', 'ip') || skipWithoutNamespaces()
const octetsSent = 50_000_000
const passwords = { authPassword: 'authpassword', privacyPassword: 'privpassword' }
const user = { name: 'pharos', auth: 'SHA-256', privacy: 'AES', ...passwords, level: 'priv' } as const
const credentials: readonly SnmpCredential[] = [
  { kind: 'v2c', community: 'public' },
  { kind: 'v3', user: 'pharos', auth: 'sha256', privacy: 'aes128', ...passwords },
]

describe('traffic over a port', { skip, timeout: 300_000 }, () => {
  it('is read by SNMP as the kernel has counted it, octet by octet', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'pharos-traffic-'))
    stack.defer(() => rmSync(folder, { recursive: true }))
    const device = stack.use(await createNamespace())
    const customer = stack.use(await createNamespace())
    await connect(device.command, customer.command)
    const agent = { folder, address: device.address, port: 161, users: [user], within: device.command }
    await stack.use(new Snmpd(agent)).start()

    const server = startProgram(
      'ip',
      within(device.command, programPath('iperf3'), '-s', '-1'),
      join(folder, 'iperf3.log'),
    )
    stack.defer(() => killProgram(server, 'SIGKILL'))
    await waitFor('iperf3 has sent', () =>
      run(
        'ip',
        within(customer.command, programPath('iperf3'), '-c', '198.18.0.1', '-n', String(octetsSent)),
      ).then(
        () => true,
        () => false,
      ),
    )
    for (const credential of credentials) {
      const source = createSnmpSource({ address: device.address, credential })
      stack.defer(() => source.close())
      // snmpd refreshes its counters every few seconds.
      const octets = await waitFor('both counters are equal', async () => {
        const { rows } = await source.readCounters(['port0'], new AbortController().signal)
        const read = [rows[0]?.octetsIn, rows[0]?.octetsOut]
        const counted = [await kernelCounter(device.command, 'rx'), await kernelCounter(device.command, 'tx')]
        return read[0] === counted[0] && read[1] === counted[1] && read
      })
      // iperf3 closes its connection before all of it is sent.
      assert.ok(octets[0]! > octetsSent / 2 && octets[1]! > 0n, String(octets))
    }
  })
})

const within = (command: readonly string[], ...rest: string[]): string[] => [...command.slice(1), ...rest]

/** A link of two namespaces; without IPv6, whose own packets would move the counters. */
async function connect(device: readonly string[], customer: readonly string[]): Promise<void> {
  const ends = [
    { command: device, name: 'port0', address: '198.18.0.1/30' },
    { command: customer, name: 'uplink', address: '198.18.0.2/30' },
  ]
  const peer = ['peer', 'name', 'uplink', 'netns', customer.at(-1)!]
  await run('ip', ['link', 'add', 'port0', 'netns', device.at(-1)!, 'type', 'veth', ...peer])
  for (const { command, name, address } of ends) {
    await run('ip', within(command, 'sysctl', '-qw', `net.ipv6.conf.${name}.disable_ipv6=1`))
    await run('ip', within(command, 'ip', 'address', 'add', address, 'dev', name))
    await run('ip', within(command, 'ip', 'link', 'set', name, 'up'))
  }
}

async function kernelCounter(command: readonly string[], direction: 'rx' | 'tx'): Promise<bigint> {
  const file = `/sys/class/net/port0/statistics/${direction}_bytes`
  const { stdout } = await run('ip', within(command, 'cat', file))
  return BigInt(stdout.trim())
}
