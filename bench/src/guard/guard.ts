// `npm run bench -- guard [path ...]`: the processor time of the hot paths beside that of their peers, in short turns
// and with little data. Fails if a path is below its threshold; a run of all paths is appended to bench/HISTORY.md.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { median } from '../../../lab/src/measure.ts'
import type { Bench } from '../benchmark.ts'
import { times } from '../table.ts'
import { takeTurns } from '../turns.ts'
import { appendRun, micros, parseHistory, type Figure, type Run } from './history.ts'
import type { HotPath, PathId, Turn } from './hot-path.ts'
import { levels, thresholdOf } from './levels.ts'
import { hotPaths } from './paths.ts'

const historyFile = new URL('../../HISTORY.md', import.meta.url)

/** Processor time of Pharos before the first turn, so that its code is compiled. */
const warmUpMicros = 1_500_000
const warmUpTurnsMax = 4

/** Resolves with whether no path is below its threshold. */
export async function runGuard(bench: Bench, paths: readonly HotPath[]): Promise<boolean> {
  const history = readFileSync(historyFile, 'utf8')
  const processor = cpus()[0]?.model.trim() ?? 'unknown'
  const before = parseHistory(history).findLast((run) => run.processor === processor)
  const figures: Partial<Record<PathId, Figure>> = {}
  const failures: string[] = []
  for (const path of paths) {
    const missing = path.missing()
    if (missing !== undefined) {
      bench.report(`${path.id} ${path.unit}: skipped, ${missing}`)
      continue
    }
    try {
      const figure = await measure(bench, path)
      figures[path.id] = figure
      bench.report(describe(path, figure, before?.figures[path.id]))
    } catch (error) {
      failures.push(`${path.id} ${path.unit}: not measured, ${(error as Error).stack}`)
    }
  }
  if (paths.length === hotPaths.length) {
    const run: Run = { date: today(), commit: commitOf(), processor, load: loadavg()[0]!, figures }
    writeFileSync(
      historyFile,
      appendRun(
        history,
        run,
        hotPaths.map(({ id }) => id),
      ),
    )
  }
  const below = paths.filter(({ id }) => isBelow(id, figures[id]))
  failures.push(...below.map((path) => failureOf(path, figures[path.id]!)))
  for (const failure of failures) bench.report(`FAILED ${failure}`)
  return failures.length === 0
}

const isBelow = (id: PathId, figure: Figure | undefined): boolean =>
  figure !== undefined && figure.ratio < thresholdOf(levels[id])

async function measure(bench: Bench, path: HotPath): Promise<Figure> {
  await using stack = new AsyncDisposableStack()
  const sides = await path.prepare(bench, stack)
  await warmUp(sides.ours)
  await sides.peer()
  const { ours, peer } = await takeTurns(bench.rounds, sides.ours, sides.peer)
  const of = (turns: readonly Turn[], microsOf: (turn: Turn) => number): number =>
    median(turns.map((turn) => microsOf(turn) / turn.units))
  const total = ({ program, database }: Turn): number => program + database
  return {
    ratio: of(peer, total) / of(ours, total),
    programMicros: of(ours, ({ program }) => program),
    databaseMicros: of(ours, ({ database }) => database),
  }
}

async function warmUp(turn: () => Promise<Turn>): Promise<void> {
  let used = 0
  for (let count = 0; count < warmUpTurnsMax && used < warmUpMicros; count++) {
    const { program, database } = await turn()
    used += program + database
  }
}

function describe({ id, unit, peer }: HotPath, figure: Figure, before: Figure | undefined): string {
  const { ratio, programMicros, databaseMicros } = figure
  const spent = `${micros(programMicros)} + ${micros(databaseMicros)} us with its database`
  const last = before ? `, was ${times(before.ratio)}` : ''
  return `${id} ${unit}: ${spent}, ${times(ratio)} of ${peer}${last}; fails below ${times(thresholdOf(levels[id]))}`
}

function failureOf({ id, unit, peer }: HotPath, { ratio }: Figure): string {
  const { goal, reached, margin, reason } = levels[id]
  return (
    `${id} ${unit}: now ${times(ratio)} of ${peer}, threshold ${times(thresholdOf(levels[id]))} ` +
    `(goal ${goal === null ? 'none' : times(goal)}, reached ${times(reached)}, margin ${Math.round(margin * 100)} %: ${reason})`
  )
}

const today = (): string => new Date().toISOString().slice(0, 10)

function commitOf(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changes = git('status', '--porcelain', '--untracked-files=no', '--', ':!bench/HISTORY.md')
  return `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : '+'}`
}
