// K3: from the start of `pharos serve` with all roles, from its sources, on an existing database, until it serves: with the compiled code of an
// earlier start and without.
import { join } from 'node:path'
import { median } from '../../lab/src/measure.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams } from './people.ts'
import { startProduct } from './product.ts'
import { milliseconds, times } from './table.ts'

export const start: Benchmark = {
  id: 'K3',
  name: 'start',
  title: 'pharos serve on an existing database, until it serves',
  missing: () => undefined,
  run,
}

const readyMsMax = 1_500

type Started = { readonly ms: number; readonly cpuMs: number }

async function run(bench: Bench): Promise<Line[]> {
  const postgres = await (await bench.cluster()).database('start', (client) => seedTeams(client, 1))
  const once = async (settings: Readonly<Record<string, string>>): Promise<Started> => {
    const begun = performance.now()
    await using product = await startProduct({
      roles: ['api', 'reconciler', 'collector', 'nameserver'],
      databaseUrl: postgres.databaseUrl,
      folder: bench.folder,
      settings,
    })
    return { ms: performance.now() - begun, cpuMs: product.cpuMicros() / 1_000 }
  }
  const kept = { NODE_COMPILE_CACHE: join(bench.folder, 'compiled') }
  await once(kept)
  const [warm, cold]: [Started[], Started[]] = [[], []]
  for (let round = 0; round < Math.max(bench.rounds, bench.quick ? 1 : 5); round++) {
    cold.push(await once({ NODE_COMPILE_CACHE: '' }))
    warm.push(await once(kept))
  }
  const text = (all: readonly Started[]) =>
    `${milliseconds(median(all.map(({ ms }) => ms)))}, ${milliseconds(median(all.map(({ cpuMs }) => cpuMs)))} of processor`
  const ms = median(warm.map((one) => one.ms))
  return [
    {
      what: 'start with all roles, until it serves',
      result: text(warm),
      peer: `${text(cold)} without compiled code`,
      ratio: times(ms / median(cold.map((one) => one.ms))),
      goal: `<= ${milliseconds(readyMsMax)}`,
      reached: ms <= readyMsMax,
    },
  ]
}
