// ID5: an identity provider sends 5,000 people and 50 groups by SCIM, and reads pages of 100. Its peer is scimmy with handlers in memory, behind node:http.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { quantile } from '../../lab/src/measure.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams } from './people.ts'
import { startProduct } from './product.ts'
import { createScim, scimClient, type ScimClient } from './scim-client.ts'
import { milliseconds, times, whole } from './table.ts'

export const provisionUsers: Benchmark = {
  id: 'ID5',
  name: 'provision-users',
  title: 'people and groups that an identity provider sends by SCIM',
  missing: () => undefined,
  run,
}

const [goalSeconds, goalPageMs] = [60, 50]
const perGroup = 100
/** Requests at once, as identity providers send them. */
const atOnce = 4

async function run({ quick, folder, cluster, report }: Bench): Promise<Line[]> {
  const people = quick ? 100 : 5_000
  const postgres = await (await cluster()).database('provision_users', (client) => seedTeams(client, 1))
  const token = await createScim(postgres.owner)
  const settings = { PHAROS_MEMBERS_PER_TEAM: String(2 * people) }
  await using product = await startProduct({
    roles: ['api'],
    databaseUrl: postgres.databaseUrl,
    folder,
    settings,
  })
  const ours = await measure(scimClient(product.url, token), people, 100)
  report(`ours: ${(ours.all / 1000).toFixed(1)} s, page ${milliseconds(ours.page)}`)
  await using peer = await startPeer()
  const theirs = await measure(scimClient(peer.url, ''), people, 5)
  return [
    {
      what: `${whole(people)} users and ${whole(people / perGroup)} groups of ${perGroup}`,
      result: `${(ours.all / 1000).toFixed(1)} s`,
      peer: `scimmy in memory: ${(theirs.all / 1000).toFixed(1)} s`,
      ratio: times(theirs.all / ours.all),
      goal: `<= ${goalSeconds} s`,
      reached: ours.all <= 1000 * goalSeconds,
    },
    {
      what: `page of 100 of ${whole(people)} users, p99`,
      result: milliseconds(ours.page),
      peer: `scimmy in memory: ${milliseconds(theirs.page)}`,
      ratio: times(theirs.page / ours.page),
      goal: `<= ${goalPageMs} ms`,
      reached: ours.page <= goalPageMs,
    },
  ]
}

type Measured = { readonly all: number; readonly page: number }

/** Milliseconds of sending all, and of a page of 100. The peer makes an object of each of its users for a page, which takes seconds: it is asked for few. */
async function measure(client: ScimClient, people: number, count: number): Promise<Measured> {
  const began = performance.now()
  const ids = await inTurns(people, async (at) => {
    const userName = `user-${at}@bench.example`
    const name = { givenName: 'User', familyName: String(at) }
    const emails = [{ value: userName, type: 'work', primary: true }]
    return (await client('POST', '/Users', { userName, name, emails, active: true, externalId: `x-${at}` }))
      .id
  })
  await inTurns(people / perGroup, async (at) => {
    const members = ids.slice(at * perGroup, (at + 1) * perGroup).map((value) => ({ value }))
    await client('POST', '/Groups', { displayName: `group-${at}`, members })
  })
  const all = performance.now() - began
  const pages: number[] = []
  for (let at = 0; at < count; at += 1) {
    const start = performance.now()
    const { totalResults } = await client('GET', `/Users?startIndex=${((at * 100) % people) + 1}&count=100`)
    pages.push(performance.now() - start)
    if (totalResults !== people) throw new Error(`${totalResults} of ${people} users`)
  }
  return { all, page: quantile(pages, 0.99) }
}

async function inTurns<T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const worker = async () => {
    while (next < count) {
      const at = next++
      results[at] = await work(at)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}

async function startPeer(): Promise<{ readonly url: string } & AsyncDisposable> {
  const child = fork(fileURLToPath(new URL('scimmy-process.ts', import.meta.url)))
  const [port] = (await once(child, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const exit = once(child, 'exit')
      child.kill()
      await exit
    },
  }
}
