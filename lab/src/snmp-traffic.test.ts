// Octets of real traffic: iperf3 between two namespaces over a veth pair, counted by the kernel and read by SNMP from
// an snmpd in a namespace.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { SnmpCredential } from '../../server/src/drivers/snmp/credential.ts'
import { createSnmpSource } from '../../server/src/drivers/snmp/source.ts'
import { createNamespace, skipWithoutNamespaces } from './namespace.ts'
import { connectPort, kernelCounter, sendOctets } from './port-traffic.ts'
import { skipWithout } from './program.ts'
import { Snmpd } from './snmpd.ts'
import { waitFor } from './wait.ts'

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
    await connectPort(device, customer)
    const agent = { folder, address: device.address, port: 161, users: [user], within: device.command }
    await stack.use(new Snmpd(agent)).start()

    await sendOctets(device, customer, octetsSent, folder)
    for (const credential of credentials) {
      const source = createSnmpSource({ address: device.address, credential })
      stack.defer(() => source.close())
      // snmpd refreshes its counters every few seconds.
      const octets = await waitFor('both counters are equal', async () => {
        const { rows } = await source.readCounters(['port0'], new AbortController().signal)
        const read = [rows[0]?.octetsIn, rows[0]?.octetsOut]
        const counted = [await kernelCounter(device, 'rx'), await kernelCounter(device, 'tx')]
        return read[0] === counted[0] && read[1] === counted[1] && read
      })
      // iperf3 closes its connection before all of it is sent.
      assert.ok(octets[0]! > octetsSent / 2 && octets[1]! > 0n, String(octets))
    }
  })
})
