// I1: processor time to read 12 columns (10 of them counters and their states, a name and the time of the last discontinuity) of 10,000
// interfaces through DeviceSource, by SNMPv2c from an agent in another process. Beside it the C library's snmpbulkwalk over the same
// objects. Then SNMPv3 beside SNMPv2c, both from snmpd.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { programPath } from '../../lab/src/program.ts'
import { freeUdpPort, Snmpd } from '../../lab/src/snmpd.ts'
import type { DeviceSource } from '../../server/src/inventory/collect/device-source.ts'
import type { SnmpCredential } from '../../server/src/drivers/snmp/credential.ts'
import { createSnmpSource } from '../../server/src/drivers/snmp/source.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPrograms } from './packages.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const readCounters: Benchmark = {
  id: 'I1',
  name: 'read-counters',
  title: 'counters of 10,000 interfaces read by SNMP',
  missing: () => missingPrograms('snmpbulkwalk', 'snmpd'),
  run,
}

const address = '127.0.0.1'
const v2c: SnmpCredential = { kind: 'v2c', community: 'public' }
const passwords = { authPassword: 'authpassword', privacyPassword: 'privpassword' }
const v3: SnmpCredential = { kind: 'v3', user: 'pharos', auth: 'sha256', privacy: 'aes128', ...passwords }

async function run(bench: Bench): Promise<Line[]> {
  return [await besideC(bench), await versions(bench)]
}

async function besideC(bench: Bench): Promise<Line> {
  const count = bench.quick ? 500 : 10_000
  const child = fork(new URL('snmp-agent-process.ts', import.meta.url), [String(count)])
  const [port] = (await once(child, 'message')) as [number]
  const source = createSnmpSource({ address, port, credential: v2c })
  // The first reading lists the names, too.
  await readAll(source, count)
  const { ours, peer } = await takeTurns(
    Math.max(bench.rounds, 3),
    () => readAll(source, count),
    async () => bulkWalk(port, bench.folder),
  )
  await source.close()
  child.disconnect()
  const [ourMs, peerMs] = [medianOf(ours, Number), medianOf(peer, Number)]
  return {
    what: `${whole(count)} interfaces x 12 columns, SNMPv2c, processor time`,
    result: milliseconds(ourMs),
    peer: `${milliseconds(peerMs)} snmpbulkwalk`,
    ratio: times(ourMs / peerMs),
    goal: '<= 3x',
    reached: ourMs <= 3 * peerMs,
  }
}

/** Many small readings: SNMPv3 costs per message. */
async function versions(bench: Bench): Promise<Line> {
  const readings = bench.quick ? 50 : 1_000
  const user = { name: 'pharos', auth: 'SHA-256', privacy: 'AES', ...passwords, level: 'priv' } as const
  const port = await freeUdpPort(address)
  await using snmpd = new Snmpd({ folder: bench.folder, address, port, users: [user] })
  await snmpd.start()
  const [first, second] = [v3, v2c].map((credential) => createSnmpSource({ address, port, credential }))
  for (const source of [first!, second!]) await readAll(source)
  const { ours, peer } = await takeTurns(
    Math.max(bench.rounds, 3),
    () => readAll(first!, undefined, readings),
    () => readAll(second!, undefined, readings),
  )
  for (const source of [first!, second!]) await source.close()
  const [v3Ms, v2cMs] = [medianOf(ours, Number), medianOf(peer, Number)]
  return {
    what: `${whole(readings)} readings of snmpd, SNMPv3 with SHA-256 and AES, processor time`,
    result: milliseconds(v3Ms),
    peer: `${milliseconds(v2cMs)} SNMPv2c`,
    ratio: times(v3Ms / v2cMs),
    goal: '<= 2x',
    reached: v3Ms <= 2 * v2cMs,
  }
}

/** Returns the processor time of this process. Throws unless every reading is complete. */
async function readAll(source: DeviceSource, count?: number, readings = 1): Promise<number> {
  const before = process.cpuUsage()
  for (let reading = 0; reading < readings; reading++) {
    const { rows, failed, isPartial } = await source.readCounters('all', new AbortController().signal)
    const isComplete = failed.length === 0 && !isPartial && (count === undefined || rows.length === count)
    if (!isComplete) throw new Error(`${rows.length} rows read, ${failed.length} failed`)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Returns the processor time of the C program, which starts without MIB files. */
function bulkWalk(port: number, folder: string): number {
  const walk = [programPath('snmpbulkwalk'), '-m', '', '-v2c', '-c', 'public', '-Cr25', '-Oqn']
  const script = `TIMEFORMAT='%U %S'; time "$@" > bench-walk.out`
  const args = ['-c', script, 'bash', ...walk, `${address}:${port}`, '1.3.6.1.2.1']
  const { stderr } = spawnSync('bash', args, { cwd: folder })
  const seconds = stderr.toString().trim().split('\n').at(-1)!.split(' ').map(Number)
  return 1_000 * (seconds[0]! + seconds[1]!)
}
