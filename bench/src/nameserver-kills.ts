// D11: the process that publishes and serves is killed (SIGKILL) again and again while record sets change. No
// acknowledged change is lost, BIND and Knot reach the stored content, and no zone ever leaves them. Compared with
// PowerDNS, killed during changes over its API.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../lab/src/address.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { startFollower, type Follower } from '../../lab/src/dns-follower.ts'
import { rcode, type Message } from '../../server/src/net/dns/message.ts'
import { recordType } from '../../server/src/net/dns/type.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { addFollowers, catalogZone, startDnsProduct, transferKey, type DnsProduct } from './dns-product.ts'
import { addressOf, hasAddress, openProbe, type Server } from './dns-probe.ts'
import { missingPrograms } from './packages.ts'
import { createPowerdnsZone, setsOf, startPowerdns } from './powerdns.ts'
import { startProduct } from './product.ts'
import { whole } from './table.ts'

export const nameserverKills: Benchmark = {
  id: 'D11',
  name: 'nameserver-kills',
  title: 'the name server killed again and again during changes',
  missing: () => missingPrograms('named', 'knotd', 'pdns_server'),
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const kills = bench.quick ? 3 : bench.full ? 1_000 : 25
  const ours = await killRepeatedly(bench, kills)
  const peer = await killPowerdns(bench.quick ? 3 : 24)
  bench.report(
    `${whole(ours.acknowledged)} acknowledged changes, ${whole(ours.questions)} questions for zones at the followers`,
  )
  const isReached = ours.lost.length + ours.missing.length === 0
  return [
    {
      what: `${whole(kills)} kills during changes`,
      result: isReached
        ? 'nothing lost, no zone removed'
        : `${ours.lost.length} lost, ${ours.missing.length} times a zone missing`,
      peer: `${peer.lost} of ${whole(peer.acknowledged)} lost, PowerDNS, ${peer.kills} kills`,
      ratio: '-',
      goal: 'nothing lost, no zone removed',
      reached: isReached,
    },
  ]
}

export type KillResult = {
  readonly acknowledged: number
  /** Queries for zones at the followers during the run. */
  readonly questions: number
  /** Acknowledged record sets that the followers do not serve in the end. */
  readonly lost: readonly string[]
  /** Answers of followers without the zone. */
  readonly missing: readonly string[]
}

const zones = ['signed.test.', 'plain.test.', 'other.test.'] as const
const hostsOfZone = 8

/** Throws if the followers do not reach the stored state in time. */
export async function killRepeatedly(bench: Bench, kills: number): Promise<KillResult> {
  await using stack = new AsyncDisposableStack()
  const port = await freePort()
  const api = stack.use(await startDnsProduct(bench, { roles: ['api'] }))
  const followers: Follower[] = []
  for (const name of ['BIND', 'Knot'] as const) {
    const primary = { address: '127.0.0.1', port }
    followers.push(
      stack.use(await startFollower(name, { primary, key: transferKey, zones: [], catalog: catalogZone })),
    )
  }
  await addFollowers(
    api.client,
    followers.map(({ name, address, port }) => ({ name, address, port, catalog: true })),
  )
  const startServer = () =>
    startProduct({
      roles: ['reconciler', 'nameserver'],
      databaseUrl: api.databaseUrl,
      folder: bench.folder,
      // It starts a thousand times: the compile cache stays.
      settings: {
        PHAROS_DNS_LISTEN: `127.0.0.1:${port}`,
        NODE_COMPILE_CACHE: join(bench.folder, 'compiled'),
      },
    })
  for (const name of zones) await api.call('POST', '/zones', { name, dnssec: name.startsWith('signed') })
  let server = await startServer()
  stack.defer(() => server[Symbol.asyncDispose]())
  const changes = zones.map((zone, at) => startChanges(api, zone, at * 1_000_000))
  await Promise.all(changes.map((one) => one.first))
  await untilServed(followers, changes)
  const watch = followers.map(watchZones)
  for (let kill = 0; kill < kills; kill++) {
    // At random times from before the first transfer after the start to some changes later.
    await sleep(Math.random() * 400)
    await server.kill()
    server = await startServer()
  }
  for (const change of changes) await change.stop()
  const lost = await lostOf(followers, changes)
  const watched = await Promise.all(watch.map((one) => one.stop()))
  return {
    acknowledged: changes.reduce((sum, { acknowledged }) => sum + acknowledged(), 0),
    questions: watched.reduce((sum, { questions }) => sum + questions, 0),
    lost,
    missing: watched.flatMap(({ missing }) => missing),
  }
}

type Changes = {
  readonly zone: string
  /** Resolves after every host has its first address. */
  readonly first: Promise<void>
  /** The last acknowledged number of each host. */
  readonly state: ReadonlyMap<string, number>
  acknowledged(): number
  stop(): Promise<void>
}

/** One writer a zone, so that the last acknowledged change is the last one. The API is another process, and not killed. */
function startChanges({ call }: DnsProduct, zone: string, from: number): Changes {
  const state = new Map<string, number>()
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const stopping = new AbortController()
  let n = from
  const work = (async () => {
    for (; !stopping.signal.aborted; n++) {
      const host = `host${n % hostsOfZone}.${zone}`
      await oneAtATime(() =>
        call('PUT', `/zones/${zone}/recordsets/${host}/A`, { ttl: 300, records: [addressOf(n)] }),
      )
      state.set(host, n)
      if (state.size === hostsOfZone) resolve()
      await sleep(5)
    }
  })()
  work.catch(() => {})
  return {
    zone,
    first,
    state,
    acknowledged: () => n - from,
    async stop() {
      stopping.abort()
      await work
    },
  }
}

let turn: Promise<unknown> = Promise.resolve()
/** The connection to the API takes one request at a time. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const next = turn.then(work)
  turn = next.catch(() => {})
  return next
}

async function untilServed(followers: readonly Server[], changes: readonly Changes[]): Promise<void> {
  for (const follower of followers) {
    using probe = await openProbe(follower)
    for (const { zone } of changes)
      await probe.until(`host0.${zone}`, recordType.A, ({ answers }) => answers.length > 0, { everyMs: 20 })
  }
}

/** The zone that the followers serve in the end: they have a minute. */
async function lostOf(followers: readonly Server[], changes: readonly Changes[]): Promise<string[]> {
  const lost: string[] = []
  for (const follower of followers) {
    using probe = await openProbe(follower)
    for (const { state } of changes)
      for (const [host, n] of state)
        await probe
          .until(host, recordType.A, hasAddress(n), { everyMs: 20, timeoutMs: 60_000 })
          .catch(() => lost.push(`${host} ${addressOf(n)} at ${follower.address}`))
  }
  return lost
}

const hasZone = ({ rcode: code, aa, answers }: Message): boolean =>
  code === rcode.NOERROR && aa && answers.some(({ type }) => type === recordType.SOA)

/** Queries a follower for the SOA of all zones without a pause. */
function watchZones(follower: Server) {
  const missing: string[] = []
  let questions = 0
  const stopping = new AbortController()
  const work = (async () => {
    using probe = await openProbe(follower)
    while (!stopping.signal.aborted) {
      for (const zone of zones) {
        const answer = await probe.ask(zone, recordType.SOA)
        questions++
        if (answer && !hasZone(answer)) missing.push(`${zone} at ${follower.address}: RCODE ${answer.rcode}`)
      }
      await sleep(5)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await work
      return { missing, questions }
    },
  }
}

/** Kills PowerDNS right after an acknowledged PATCH; returns how many it does not have after its start. */
async function killPowerdns(kills: number): Promise<{ kills: number; acknowledged: number; lost: number }> {
  await using powerdns = await startPowerdns()
  await createPowerdnsZone(powerdns, zones[1], [])
  let [n, lost] = [0, 0]
  for (let kill = 0; kill < kills; kill++) {
    const host = `host.${zones[1]}`
    for (let change = 0; change < 10; change++)
      await powerdns.call('PATCH', `/zones/${zones[1]}`, {
        rrsets: setsOf([{ name: host, type: 'A', records: [addressOf(++n)] }]),
      })
    await powerdns.kill()
    await powerdns.start()
    using probe = await openProbe(powerdns)
    const answer = await waitFor('PowerDNS answers', () => probe.ask(host, recordType.A))
    if (!hasAddress(n)(answer)) lost++
  }
  return { kills, acknowledged: n, lost }
}
