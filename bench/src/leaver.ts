// ID2: from the answer to the request of SCIM that ends a member until every process refuses them and their stream has ended, beside signing out over two processes.
import { openStream } from '@pharos/contract/messages/stream-client'
import { sql } from 'kysely'
import { quantile } from '../../lab/src/measure.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { hashPassword } from '../../server/src/session/password.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams } from './people.ts'
import { startProduct } from './product.ts'
import { createScim, scimClient, type ScimClient } from './scim-client.ts'
import { milliseconds, times } from './table.ts'

export const leaver: Benchmark = {
  id: 'ID2',
  name: 'leaver',
  title: 'a leaver whom SCIM removes, until every process and the stream refuse them',
  missing: () => undefined,
  run,
}

const goalMs = 1_000
const password = 'a-password-for-the-bench'

async function run({ quick, rounds, folder, cluster }: Bench): Promise<Line[]> {
  const people = quick ? 3 : 20 * rounds
  const postgres = await (await cluster()).database('leaver', (client) => seedTeams(client, 1))
  const token = await createScim(postgres.owner)
  const shared = { roles: ['api'] as const, databaseUrl: postgres.databaseUrl, folder }
  await using first = await startProduct(shared)
  await using second = await startProduct(shared)
  const urls = [first.url, second.url]
  const client = scimClient(first.url, token)
  const names = Array.from({ length: 2 * people }, (_, at) => `leaver-${at}`)
  const ids = await addPeople(postgres, client, names)
  const [removed, left]: [Left[], Left[]] = [[], []]
  for (let at = 0; at < people; at += 1) {
    removed.push(
      await leave(urls, names[2 * at]!, () =>
        client('PATCH', `/Users/${ids[2 * at]!}`, {
          Operations: [{ op: 'Replace', path: 'active', value: 'False' }],
        }),
      ),
    )
    left.push(await leave(urls, names[2 * at + 1]!, (access) => signOut(first.url, access)))
  }
  const line = (what: string, of: (one: Left) => number): Line => {
    const [ours, peer] = [quantile(removed.map(of), 0.99), quantile(left.map(of), 0.99)]
    return {
      what: `${what}, ${people} people, p99`,
      result: milliseconds(ours),
      peer: `after signing out: ${milliseconds(peer)}`,
      ratio: times(peer / ours),
      goal: `<= ${milliseconds(goalMs)}`,
      reached: ours <= goalMs,
    }
  }
  return [
    line('active: false answered until 401 in both processes', ({ refused }) => refused),
    line('active: false answered until the stream has ended', ({ streamEnded }) => streamEnded),
  ]
}

/** Provisions people, who also get a password with which the bench signs them in. */
async function addPeople(
  { owner }: Postgres,
  client: ScimClient,
  names: readonly string[],
): Promise<string[]> {
  const ids: string[] = []
  for (const name of names)
    ids.push((await client('POST', '/Users', { userName: `${name}@bench.example` })).id)
  await sql`update users set password_hash = ${await hashPassword(password)}`.execute(owner)
  return ids
}

type Left = { readonly refused: number; readonly streamEnded: number }

/** Signs in, fills the caches of both processes, opens a stream, and measures from the answer of the request. */
async function leave(
  urls: readonly string[],
  name: string,
  end: (access: string) => Promise<unknown>,
): Promise<Left> {
  const access = await signIn(urls[0]!, name)
  for (const url of urls) if ((await statusOf(url, access)) !== 200) throw new Error('not signed in')
  const abort = new AbortController()
  const events = openStream(
    { baseUrl: urls[1]!, credential: () => ({ bearer: access }) },
    { signal: abort.signal },
  )
  await events.next()
  let streamEnded = 0
  const stream = (async () => {
    for await (const _ of events);
    streamEnded = performance.now()
  })().catch(() => (streamEnded = performance.now()))
  await end(access)
  const answered = performance.now()
  await Promise.all(urls.map((url) => untilRefused(url, access)))
  const refused = performance.now() - answered
  await stream
  abort.abort()
  return { refused, streamEnded: streamEnded - answered }
}

async function untilRefused(url: string, access: string): Promise<void> {
  while ((await statusOf(url, access)) !== 401) await new Promise((resolve) => setTimeout(resolve, 2))
}

async function statusOf(url: string, access: string): Promise<number> {
  const response = await fetch(`${url}/v3/teams/current`, { headers: { authorization: `Bearer ${access}` } })
  await response.arrayBuffer()
  return response.status
}

async function signIn(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}/v3/session/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@bench.example`, password }),
  })
  if (!response.ok) throw new Error(`signing in: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { access: string }).access
}

async function signOut(url: string, access: string): Promise<void> {
  const response = await fetch(`${url}/v3/session/logout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access}` },
    body: '{}',
  })
  if (!response.ok) throw new Error(`signing out: ${response.status}`)
}
