// ID4: the list of a zone of a million record sets by a token that is limited to names: pages of 100 with the exact count. Beside it the same list by a token
// without a limit.
import type { Resources } from '@pharos/contract/resource-limit'
import { median, quantile } from '../../lab/src/measure.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { startDnsProduct, type DnsProduct } from './dns-product.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'
import { signIn } from './people.ts'
import { countByProduct, pageSize, seedZone, zone } from './recordset-list.ts'
import { milliseconds, times, whole } from './table.ts'

export const recordSetLimit: Benchmark = {
  id: 'ID4',
  name: 'recordset-limit',
  title: 'list of a zone of 1 M record sets by a token limited to names',
  missing: () => undefined,
  run,
}

const goalMs = 50

async function run(bench: Bench): Promise<Line[]> {
  const [count, within] = bench.quick ? [20_000, 1_000] : [1_000_000, 10_000]
  const pages = bench.quick ? 40 : 300
  await using ours = await startDnsProduct(bench, {
    roles: ['api'],
    seed: async (client) => {
      await seedZone(client, count)
      for (const [prefix, type] of [
        ['_acme-challenge.', 16],
        ['', 1],
      ] as const)
        await client.query(
          `insert into dns_recordsets (zone_id, team_id, name_key, type, name, ttl, rdata, content)
           select z.id, 1, z.name_key || convert_to(h.parent, 'UTF8') || '\\x00'::bytea
               || case when $1 = '' then convert_to(h.label, 'UTF8') else convert_to('_acme-challenge', 'UTF8') end || '\\x00'::bytea,
             $2::integer, $1 || case when $1 = '' then h.label || '.' else '' end || h.parent || '.' || z.name, 300,
             array['\\xc0000201'::bytea], 'x'
           from dns_zones z, (select case when $1 = '' then 'dyn' else 'host' || lpad(n::text, 7, '0') end as parent,
             'a' || n as label from generate_series(1, $3::integer) n) h`,
          [prefix, type, within],
        )
      await client.query('update dns_zones set recordset_count = recordset_count + $1', [2 * within])
      await client.query('analyze dns_recordsets')
    },
  })
  const total = await countByProduct(ours)
  const access = (await signIn(ours.product.url, 1))[0]!.access
  const connection = await HttpConnection.open(ours.product.url)
  const list = async (token: string, expected: number): Promise<number[]> => {
    const samples: number[] = []
    for (let at = 0; at < pages; at++) {
      const offset = (at * 7919 * pageSize) % (expected - pageSize)
      const path = `/v3/dns/zones/${zone}/recordsets?limit=${pageSize}&offset=${offset}`
      const start = performance.now()
      const { body } = await send(ours, connection, 'GET', path, `Token ${token}`)
      samples.push(performance.now() - start)
      const { results, count: found } = JSON.parse(body) as { results: unknown[]; count: number }
      if (found !== expected || results.length !== pageSize)
        throw new Error(`offset ${offset}: ${results.length} of ${found} instead of ${expected}`)
    }
    return samples
  }
  const create = async (resources?: Resources): Promise<string> => {
    const body = { name: 'bench', scopes: ['dns:read'], ...(resources && { resources }) }
    const answer = await send(ours, connection, 'POST', '/v3/tokens', `Bearer ${access}`, body)
    return (JSON.parse(answer.body) as { token: string }).token
  }
  const all = await list(await create(), total)
  const lines: Line[] = []
  for (const [what, names, types] of [
    [`${whole(within)} below one name`, ['*.dyn'], undefined],
    [`${whole(within)} of one first label and type`, ['_acme-challenge.*'], ['TXT']],
  ] as const) {
    const resources = { zones: [{ zone, names: [...names], ...(types && { types: [...types] }) }] }
    const samples = await list(await create(resources), within)
    const [p50, p99] = [median(samples), quantile(samples, 0.99)]
    lines.push({
      what: `${whole(total)} record sets, ${what}`,
      result: `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`,
      peer: `p50 ${milliseconds(median(all))}, p99 ${milliseconds(quantile(all, 0.99))} without a limit`,
      ratio: `${times(p50 / median(all))} its time`,
      goal: `p99 <= ${goalMs} ms`,
      reached: p99 <= goalMs,
    })
  }
  connection.close()
  return lines
}

async function send(
  { product }: DnsProduct,
  connection: HttpConnection,
  method: string,
  path: string,
  authorization: string,
  body?: object,
) {
  const request = renderRequest(new URL(product.url).host, {
    method,
    path,
    authorization,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await ask(connection, request)
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 500)}`)
  return answer
}
