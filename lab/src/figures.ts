// `node lab/src/figures.ts`: measures the GoBGP driver on this machine, with real daemons: the driver's part of P5 and P6.
// The bench measures the complete path, through the API.
import { createGobgpSpeaker } from '../../server/src/drivers/gobgp/speaker.ts'
import type { Route, Speaker } from '../../server/src/byoip/regions/speaker.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { median, quantile } from './measure.ts'
import { createLab, type Lab } from './network.ts'

const owner = '64500:1:1'
const rounds = Number(process.argv[2] ?? 500)

await using lab = await createLab({ regions: 4 })
const speakers = lab.regions.map(({ apiAddress }) => createGobgpSpeaker({ address: apiAddress, owner }))
await latency(lab, speakers[0]!)
await many([speakers[0]!], 10_000)
await many(speakers, 2_500)
await many(speakers, 10_000)
await Promise.all(speakers.map((speaker) => speaker.close()))

/** From before the call until BIRD handled the UPDATE, both by the clock of this machine. */
async function latency(lab: Lab, speaker: Speaker): Promise<void> {
  const region = lab.regions[0]!.name
  const announceMs: number[] = []
  const withdrawMs: number[] = []
  using log = lab.watchBirdRoutes(region)
  for (const route of routes(rounds)) {
    const announcedAt = now()
    await speaker.announce([route])
    announceMs.push((await log.saw('announced', route.prefix)).atMs - announcedAt)
    const withdrawnAt = now()
    await speaker.withdraw([route])
    withdrawMs.push((await log.saw('removed', route.prefix)).atMs - withdrawnAt)
    log.clear()
  }
  report(`one announcement to the neighbor, ${rounds} times`, announceMs)
  report(`one withdrawal to the neighbor, ${rounds} times`, withdrawMs)
}

async function many(speakers: readonly Speaker[], count: number): Promise<void> {
  const all = routes(count)
  const calls: Record<string, (speaker: Speaker) => Promise<unknown>> = {
    announce: (speaker) => speaker.announce(all),
    list: (speaker) => speaker.list(),
    withdraw: (speaker) => speaker.withdraw(all),
  }
  for (const [name, call] of Object.entries(calls)) {
    const samples: number[] = []
    for (let round = 0; round < (name === 'list' ? 7 : 1); round++) {
      const startedAt = now()
      await Promise.all(speakers.map(call))
      samples.push(now() - startedAt)
    }
    report(`${name} ${count} in ${speakers.length} region(s) at once`, samples)
  }
}

function report(what: string, samples: readonly number[]): void {
  const [p50, p99, max] = [median(samples), quantile(samples, 0.99), Math.max(...samples)]
  const figures = samples.length === 1 ? ms(p50) : `p50 ${ms(p50)}  p99 ${ms(p99)}  max ${ms(max)}`
  process.stdout.write(`${what.padEnd(52)} ${figures}\n`)
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

/** Alternates IPv4 and IPv6. */
function routes(count: number): Route[] {
  return Array.from({ length: count }, (_, at) => {
    const isIpv6 = at % 2 === 1
    return {
      prefix: parsePrefix(isIpv6 ? `2001:db8:${at.toString(16)}::/48` : `10.${at >> 8}.${at & 255}.0/24`),
      asPath: [64496],
      nextHop: isIpv6 ? '2001:db8::1' : '0.0.0.0',
      communities: ['64500:100'],
      largeCommunities: ['64500:2:3'],
    }
  })
}
