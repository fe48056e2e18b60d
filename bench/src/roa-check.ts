// P8: validates every announcement by the RPKI, and applies a delta of VRPs. Compared with BIRD's roa_check over the
// same routes and VRPs. Both must have the same results, otherwise the benchmark fails.
import { createRoaTable, roaStates } from '../../server/src/registry/objects/roa-table.ts'
import type { RoaTable } from '../../server/src/registry/objects/roa-table.ts'
import type { VrpBits } from '../../server/src/registry/objects/vrp.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPeers } from './packages.ts'
import { RoaBird } from './roa-bird.ts'
import { columnsOf, generateRoaData } from './roa-data.ts'
import type { AnnouncedColumns, RoaData } from './roa-data.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const roaCheck: Benchmark = {
  id: 'P8',
  name: 'roa-check',
  title: 'announcements judged by the RPKI, and a delta of 1,000 VRPs',
  missing: () => missingPeers().routers,
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const data = bench.quick ? generateRoaData(20_000, 25_000) : generateRoaData(788_000, 1_000_000)
  const table = createRoaTable(data.vrps)
  const sweep = { 4: columnsOf(data.announced, 4), 6: columnsOf(data.announced, 6) }
  await using bird = new RoaBird(bench.folder)
  await bird.start(data)
  await requireSame(bench, table, sweep, bird, data)
  const { ours, peer } = await takeTurns(
    bench.rounds,
    async () => judgeAll(table, sweep),
    () => bird.check(data),
  )
  const deltaMs = medianOf(applyDeltas(table, data.vrps, bench.quick ? 10 : 50), Number)
  bench.report(
    'BIRD: processor time of a pipe with roa_check, minus that of the same pipe without; its ticks are 10 ms',
  )
  return linesOf(data, medianOf(ours, Number), medianOf(peer, Number), deltaMs)
}

type Sweep = { readonly 4: AnnouncedColumns; readonly 6: AnnouncedColumns }

/** Milliseconds of processor time, in a process without other work. */
function judgeAll(table: RoaTable, sweep: Sweep): number {
  return cpuMsOf(() => {
    for (const family of [4, 6] as const) table.judgeMany(family, sweep[family].prefixes, sweep[family].asns)
  })
}

function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function requireSame(
  bench: Bench,
  table: RoaTable,
  sweep: Sweep,
  bird: RoaBird,
  data: RoaData,
): Promise<void> {
  const counts = roaStates.map(() => 0)
  for (const family of [4, 6] as const) {
    for (const state of table.judgeMany(family, sweep[family].prefixes, sweep[family].asns)) counts[state]!++
  }
  const [missing = 0, otherAsn = 0, tooLong = 0, valid = 0] = counts
  const theirs = [await bird.count('valid', data), await bird.count('invalid', data)]
  if (theirs[0] !== valid || theirs[1] !== otherAsn + tooLong)
    throw new Error(`BIRD finds ${theirs.join(' valid and ')} invalid, ours is ${counts.join(', ')}`)
  bench.report(
    `both find ${whole(valid)} valid, ${whole(otherAsn + tooLong)} invalid and ${whole(missing)} without a ROA`,
  )
}

/** Each removes 500 VRPs and restores the VRPs of the previous delta. */
function applyDeltas(table: RoaTable, vrps: readonly VrpBits[], count: number): number[] {
  const step = Math.floor(vrps.length / 500)
  const slice = (round: number): VrpBits[] =>
    Array.from({ length: 500 }, (_, i) => vrps[i * step + (round % step)]!)
  table.apply({ withdrawn: slice(0) })
  return Array.from({ length: count }, (_, i) => {
    const delta = { withdrawn: slice(i + 1), announced: slice(i) }
    return cpuMsOf(() => table.apply(delta))
  })
}

function linesOf({ vrps, announced }: RoaData, judgeMs: number, birdMs: number, deltaMs: number): Line[] {
  return [
    {
      what: `${whole(announced.length)} announcements judged by ${whole(vrps.length)} VRPs`,
      result: milliseconds(judgeMs),
      peer: `${milliseconds(birdMs)} BIRD roa_check`,
      ratio: times(birdMs / judgeMs),
      goal: '<= 0.5 s',
      reached: judgeMs <= 500,
    },
    {
      what: 'a delta of 1,000 VRPs applied',
      result: milliseconds(deltaMs),
      peer: '-',
      ratio: '-',
      goal: '<= 5 ms',
      reached: deltaMs <= 5,
    },
  ]
}
