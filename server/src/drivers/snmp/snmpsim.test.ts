// The SNMP driver on a second stack, snmpsim in Python: it reads the same of a device as from the agent of our tests.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { killProgram, skipWithout, startProgram } from '../../../../lab/src/program.ts'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import { formatSnmprec } from '../../../../lab/src/snmp-records.ts'
import { freeUdpPort } from '../../../../lab/src/snmpd.ts'
import { waitFor } from '../../../../lab/src/wait.ts'
import type { ScriptedInterface } from '../../inventory/collect/device-source.conformance.ts'
import type { DeviceSource } from '../../inventory/collect/device-source.ts'
import { createSnmpSource } from './source.ts'
import { deviceRecords } from './testing-device.ts'

const address = '127.0.0.1'
const { signal } = new AbortController()
const uptime = ['1.3.6.1.2.1.1.3.0', { tag: 67, value: 1_234_567n }] as const

const wires = Array.from({ length: 60 }, (_, at): ScriptedInterface => ({
  name: `et-0/0/${at}`,
  alias: at === 3 ? 'Zürich | uplink' : '',
  index: 500 + 7 * at,
  admin: 'up',
  oper: at % 5 === 0 ? 'lower_layer_down' : 'up',
  speedBps: 400e9,
  addresses: [`192.0.2.${at}/31`, `2001:db8::${at}/127`],
  counters: { octetsIn: 2n ** 64n - 1n - BigInt(at), octetsOut: BigInt(at) },
}))
const identity = { name: 'r1', vendor: 'Arista', model: '7280CR3K', serial: 'S1', software: '4.32' }
const records = [uptime, ...deviceRecords({ identity, interfaces: wires })]

async function readAll(source: DeviceSource) {
  const { rows, ...counters } = await source.readCounters('all', signal)
  return {
    identity: await source.probe(signal),
    interfaces: await source.listInterfaces(signal),
    // The time of the answer, and the clock of our agent, go on.
    counters: { ...counters, rows: rows.map((row) => ({ ...row, at: 0, uptimeCs: 0 })) },
  }
}

describe('the SNMP driver with snmpsim', { skip: skipWithout('snmpsimd'), timeout: 120_000 }, () => {
  it('reads the same as from our agent, by GetBulk and 64-bit counters', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'pharos-snmpsim-'))
    stack.defer(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'public.snmprec'), formatSnmprec(records))
    const port = await freeUdpPort(address)
    const folders = [`--data-dir=${folder}`, `--cache-dir=${join(folder, 'cache')}`]
    const user = process.getuid?.() === 0 ? ['--process-user=root', '--process-group=root'] : []
    const endpoint = `--agent-udpv4-endpoint=${address}:${port}`
    const simulator = startProgram('snmpsimd', [...folders, ...user, endpoint], join(folder, 'log'))
    stack.defer(() => killProgram(simulator, 'SIGKILL'))
    const agent = await startSnmpAgent(records)
    stack.defer(() => agent.close())
    const sourceAt = (at: number) => {
      const source = createSnmpSource({ address, port: at, credential: { kind: 'v2c', community: 'public' } })
      stack.defer(() => source.close())
      return source
    }
    const theirs = sourceAt(port)
    await waitFor('snmpsim answers', () =>
      theirs.probe(signal).then(
        () => true,
        () => false,
      ),
    )
    const read = await readAll(theirs)
    assert.equal(read.counters.rows.length, wires.length)
    assert.deepEqual(read, await readAll(sourceAt(agent.port)))
  })
})
