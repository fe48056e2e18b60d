// Creates fifty announcements in one request, with all checks against local registries: ROAs and route objects in files that
// were read before. Beside it the same rows written by plain SQL in one transaction, without any check.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { median, quantile } from '../../lab/src/measure.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'
import { seedTeams, seedUsers, signIn } from './people.ts'
import { startProduct } from './product.ts'
import { milliseconds, times } from './table.ts'

export const createAnnouncements: Benchmark = {
  id: 'C50',
  name: 'create-announcements',
  title: '50 announcements created at once, with all their checks',
  missing: () => undefined,
  run,
}

const atOnce = 50
const asn = 64496
const prefixOf = (n: number): string => `2001:db8:${n.toString(16)}::/48`

async function run(bench: Bench): Promise<Line[]> {
  const { folder, quick, report } = bench
  const postgres = await (
    await bench.cluster()
  ).database('create', async (client) => {
    await seedTeams(client, 1)
    await seedUsers(client, 1, 1)
    await client.query('insert into asns (team_id, asn, verified) values (1, $1, now())', [asn])
  })
  const requests = quick ? 10 : 100
  const settings = {
    ...(await writeRegistries(folder, requests * atOnce)),
    PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
    PHAROS_ANNOUNCEMENTS_PER_TEAM: '1000000',
  }
  const { databaseUrl } = postgres
  await using product = await startProduct({ roles: ['api'], databaseUrl, folder, settings })
  const [{ access } = { access: '' }] = await signIn(product.url, 1)
  await empty(postgres)
  const peer = await timePlain(postgres, requests)
  await empty(postgres)
  const ours = await timeRequests(product.url, access, requests)
  const [p50, p99] = [median(ours), quantile(ours, 0.99)]
  report(`plain SQL p50 ${milliseconds(median(peer))}, p99 ${milliseconds(quantile(peer, 0.99))}`)
  return [
    {
      what: `create ${atOnce}, all checks`,
      result: `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`,
      peer: `${milliseconds(median(peer))} plain SQL, no checks`,
      ratio: `${times(p50 / median(peer))} its time`,
      goal: '',
      reached: undefined,
    },
  ]
}

async function writeRegistries(folder: string, prefixes: number): Promise<Record<string, string>> {
  const all = Array.from({ length: prefixes }, (_, n) => prefixOf(n))
  const roas = all.map((prefix) => ({ asn: `AS${asn}`, prefix, maxLength: 48, ta: 'bench' }))
  const files = { vrps: join(folder, 'vrps.json'), routes: join(folder, 'routes.rpsl') }
  await writeFile(files.vrps, JSON.stringify({ roas }))
  const objects = all.map((prefix) => `route6: ${prefix}\norigin: AS${asn}\nsource: BENCH\n\n`)
  await writeFile(files.routes, objects.join(''))
  return {
    PHAROS_RPKI_SOURCES: pathToFileURL(files.vrps).href,
    PHAROS_IRR_SOURCES: pathToFileURL(files.routes).href,
  }
}

const empty = ({ owner }: Postgres) => sql`truncate announcements restart identity cascade`.execute(owner)

async function timeRequests(url: string, access: string, requests: number): Promise<number[]> {
  const connection = await HttpConnection.open(url)
  const samples: number[] = []
  for (let at = 0; at < requests; at++) {
    const announcements = Array.from({ length: atOnce }, (_, n) => ({
      cidr: prefixOf(at * atOnce + n),
      origin_asn: asn,
    }))
    const request = renderRequest(new URL(url).host, {
      method: 'POST',
      path: '/v3/ipam/announcements?include=validations',
      body: JSON.stringify({ announcements }),
      authorization: `Bearer ${access}`,
    })
    const start = performance.now()
    const { status, body } = await ask(connection, request)
    samples.push(performance.now() - start)
    if (status !== 201) throw new Error(`create: ${status} ${body}`)
    requireChecked(body)
  }
  connection.close()
  return samples
}

/** A skipped check would make it look fast. */
function requireChecked(body: string): void {
  const checked = body.match(/"name":"(irr|rpki)","state":"valid"/g)?.length
  if (checked !== 2 * atOnce)
    throw new Error(`${checked} of ${2 * atOnce} checks were valid: ${body.slice(0, 2000)}`)
}

/** The same rows: announcements, and for each six checks, a history entry and an audit entry. */
async function timePlain(postgres: Postgres, requests: number): Promise<number[]> {
  const client = await postgres.directConnection()
  const samples: number[] = []
  for (let at = 0; at < requests; at++) {
    const prefixes = Array.from({ length: atOnce }, (_, n) => prefixOf(at * atOnce + n))
    const start = performance.now()
    await client.query('begin')
    const { rows } = await client.query<{ id: number }>(
      `insert into announcements (team_id, prefix, origin_asn, managed_by)
       select 1, prefix, ${asn}, 'team' from unnest($1::cidr[]) prefix returning id`,
      [prefixes],
    )
    const ids = rows.map(({ id }) => id)
    await client.query(
      `insert into announcement_validations (announcement_id, name, team_id, state, note, evidence)
       select id, name, 1, 'valid', 'A ROA authorises the origin.', '{"vrps":[{"prefix":"2001:db8::/48","asn":64496}]}'
       from unnest($1::integer[]) id, unnest(array['irr','rpki','loa','asn','size','overlap']) name`,
      [ids],
    )
    await client.query(
      `insert into announcement_history (announcement_id, team_id, kind, actor)
       select id, 1, 'created', 'user:1' from unnest($1::integer[]) id`,
      [ids],
    )
    await client.query(
      `insert into audit_entries (team_id, actor, action, target)
       select 1, 'user:1', 'announcement.create', 'announcement:' || id from unnest($1::integer[]) id`,
      [ids],
    )
    await client.query('commit')
    samples.push(performance.now() - start)
  }
  await client.end()
  return samples
}
