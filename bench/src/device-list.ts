// I11: the list of 10,000 devices with the exact count, and the counts of its filters, as a team that has a port on each. Beside them the same
// list by plain SQL without teams and states.
import { performance } from 'node:perf_hooks'
import type { Client } from 'pg'
import { median, quantile } from '../../lab/src/measure.ts'
import { groupDevices, listDevices, type DeviceDeps } from '../../server/src/inventory/device/device.ts'
import type { Operation } from '../../server/src/operation/operation.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams } from './people.ts'
import { milliseconds, times, whole } from './table.ts'

export const deviceList: Benchmark = {
  id: 'I11',
  name: 'device-list',
  title: 'list of 10,000 devices, and the counts of its filters',
  missing: () => undefined,
  run,
}

const actor = { actor: { teamId: 1 } } as Operation

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 500 : 10_000
  const asks = bench.quick ? 10 : 100
  const cluster = await bench.cluster()
  const postgres = await cluster.database(`devices_${count}_v1`, (client) => seed(client, count))
  const client = await postgres.directConnection()
  const deps = { postgres, now: () => new Date() } as unknown as DeviceDeps
  const list = await measure(asks, async () => {
    const { results, count: total } = await listDevices(deps, actor, {
      ordering: 'name',
      limit: 100,
      offset: 0,
    })
    if (results.length !== 100 || total !== count) throw new Error(`${results.length} of ${total}`)
  })
  const groups = await measure(asks, () =>
    groupDevices(deps, actor, { by: 'location,role,vendor,status,tag' }),
  )
  const plain = await measure(asks, () =>
    client.query(`select d.*, count(*) over () from devices d order by name limit 100`),
  )
  await client.end()
  const line = (what: string, samples: readonly number[], p99Max: number): Line => ({
    what: `${what} of ${whole(count)} devices`,
    result: `p50 ${milliseconds(median(samples))}, p99 ${milliseconds(quantile(samples, 0.99))}`,
    peer: `p50 ${milliseconds(median(plain))} plain SQL`,
    ratio: `${times(median(samples) / median(plain))} its time`,
    goal: `p99 <= ${p99Max} ms`,
    reached: quantile(samples, 0.99) <= p99Max,
  })
  return [line('100 rows with the exact count', list, 10), line('counts of five filters', groups, 20)]
}

async function seed(client: Client, count: number): Promise<void> {
  await seedTeams(client, 1)
  await client.query(`insert into locations (key, name, country, timezone)
    select 'l' || n, 'Location ' || n, 'NL', 'UTC' from generate_series(1, 20) n`)
  await client.query(`insert into services (team_id, name, type) values (1, 'S', 'transit')`)
  await client.query(
    `insert into devices (name, role, vendor, model, location_key, tags, driver)
     select 'r' || n || '.example', (array['edge', 'core', 'access'])[1 + n % 3], (array['Juniper', 'Arista', 'Nokia'])[1 + n % 3], 'M' || n % 7,
       'l' || (1 + n % 20), array['t' || n % 5], 'sandbox' from generate_series(1, $1::integer) n order by n`,
    [count],
  )
  await client.query(`insert into device_states (device_id, identity, seen, missed)
    select id, '{"software": "1.0"}', now(), case when id % 10 = 0 then 4 else 0 end from devices`)
  await client.query(
    `insert into ports (circuit_id, name, device_id, interface_key) select 'C' || id, 'et0', id, 'et0' from devices`,
  )
  await client.query(`insert into port_assignments (port_id, service_id, team_id, valid)
    select id, 1, 1, tstzrange(now() - interval '1 day', null) from ports`)
  for (const table of ['devices', 'device_states', 'ports', 'port_assignments'])
    await client.query(`vacuum analyze ${table}`)
}

async function measure(asks: number, ask: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = []
  for (let at = 0; at < asks; at++) {
    const begun = performance.now()
    await ask()
    samples.push(performance.now() - begun)
  }
  return samples
}
