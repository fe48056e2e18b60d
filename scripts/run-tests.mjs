// Runs test files, each in a process of its own, and counts the results. test.mjs chooses the files and prepares what they
// need. A file that fails is never run again.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const reporter = fileURLToPath(new URL('test-reporter.mjs', import.meta.url))
const timesFile = fileURLToPath(new URL('test-times.json', import.meta.url))
const isLong = process.env.PHAROS_TEST_LONG !== undefined

/** Time limit of one test, unless it sets its own. The longest takes a minute on an idle machine of two cores. */
const TEST_TIMEOUT_MS = (isLong ? 240 : 10) * 60_000
const FILE_TIMEOUT_MS = (isLong ? 1440 : 30) * 60_000
/** After this time without a running test a process hangs: it does not end, or its first hook does not. */
const IDLE_TIMEOUT_MS = 10 * 60_000
/** Time between the request for open handles and SIGKILL. */
const DUMP_MS = 5_000
/** Files that run at once, per core: many wait for daemons and timers most of the time. */
const FILES_PER_CORE = 2
/** Seconds assumed for a file without an entry in the table. */
const DEFAULT_SECONDS = 3

/** Files whose tests are independent, and into how many processes they are split: see server/test/support/shard.ts. */
export const shards = {
  'server/test/crash.test.ts': 2,
  'server/test/every-route.test.ts': 3,
  'server/test/generated-requests.test.ts': 2,
  'server/test/two-failures.test.ts': 3,
}

/**
 * Resolves with the counts of all files. Cancelled tests, and files that end without a summary, count as failed. One file
 * prints its report while it runs; of several, only those print it that fail.
 */
export async function runTests(files, options = {}) {
  const { concurrency = FILES_PER_CORE * availableParallelism(), limits = {} } = options
  const times = readTimes()
  const jobs = files.flatMap((file) => jobsOf(file, times)).sort((a, b) => b.seconds - a.seconds)
  const total = { passed: 0, failed: 0, skipped: 0 }
  const measured = {}
  const live = jobs.length === 1
  const next = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const result = await runJob(job, live, { ...defaultLimits, ...limits })
      for (const key of Object.keys(total)) total[key] += result[key]
      measured[job.title] = Math.round(result.seconds)
      print(job, result, live)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, next))
  if (process.env.PHAROS_TEST_TIMES) writeTimes(measured)
  return total
}

const processes = new Set()
// A test process that gets a signal ends the daemons that it started; one that is killed leaves them.
process.once('exit', () => processes.forEach((child) => child.kill('SIGUSR2')))
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => process.exit(status))

const defaultLimits = {
  testMs: TEST_TIMEOUT_MS,
  fileMs: FILE_TIMEOUT_MS,
  idleMs: IDLE_TIMEOUT_MS,
  dumpMs: DUMP_MS,
}

function jobsOf(file, times) {
  const count = shards[file] ?? 1
  return Array.from({ length: count }, (_, at) => {
    const shard = count === 1 ? undefined : `${at + 1}/${count}`
    const title = shard ? `${file} ${shard}` : file
    return { file, shard, title, seconds: times[title] ?? DEFAULT_SECONDS }
  })
}

/** Runs one process; resolves with its counts, its output and, if it was ended or crashed, the position of that. */
async function runJob({ file, shard }, live, { testMs, fileMs, idleMs, dumpMs }) {
  const start = performance.now()
  const [program, ...words] = [...isolationOf(file), process.execPath, ...argumentsOf(file, testMs)]
  const child = spawn(program, words, {
    env: environmentOf(shard),
    stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe', 'pipe'],
  })
  processes.add(child)
  child.once('exit', () => processes.delete(child))
  const output = []
  child.stdout?.on('data', (chunk) => output.push(chunk))
  child.stderr?.on('data', (chunk) => output.push(chunk))
  const state = { running: [], counts: undefined, cpuSeconds: undefined, open: undefined, ended: undefined }
  let idleTimer
  const end = (reason) => {
    state.ended ??= reason
    child.kill('SIGUSR2')
    setTimeout(() => child.kill('SIGKILL'), dumpMs).unref()
  }
  const watchIdle = () => {
    clearTimeout(idleTimer)
    if (state.running.length > 0) return
    idleTimer = setTimeout(end, idleMs, `no test ran for ${idleMs / 1000} s, and the process did not end`)
  }
  watchIdle()
  const fileTimer = setTimeout(end, fileMs, `not finished after ${fileMs / 1000} s`)
  createInterface({ input: child.stdio[3] }).on('line', (line) => {
    apply(state, JSON.parse(line))
    watchIdle()
  })
  const [code, signal] = await exitOf(child)
  clearTimeout(idleTimer)
  clearTimeout(fileTimer)
  const seconds = (performance.now() - start) / 1000
  return {
    ...countsOf(state, code),
    seconds,
    cpuSeconds: state.cpuSeconds,
    ...describeEnd(state, code, signal, file),
    output,
  }
}

function apply(state, { began, ended, nesting, counts, cpuSeconds, open }) {
  const key = `${'  '.repeat(nesting ?? 0)}${began ?? ended}`
  if (began) state.running.push(key)
  if (ended && state.running.includes(key)) state.running.splice(state.running.indexOf(key), 1)
  if (counts) Object.assign(state, { counts, cpuSeconds })
  if (open) state.open = open
}

/** The process itself has ended, even if a program that the test started keeps its output open. */
async function exitOf(child) {
  const exit = new Promise((resolve) => child.once('exit', (...result) => resolve(result)))
  const closed = new Promise((resolve) => child.once('close', resolve))
  const failed = new Promise((resolve) => child.once('error', (error) => resolve([1, error.message])))
  const result = await Promise.race([exit, failed])
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 2_000).unref())])
  for (const stream of child.stdio) stream?.destroy()
  return result
}

function countsOf({ counts, ended }, code) {
  if (counts === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const failed = counts.failed + counts.cancelled
  const crashed = ended !== undefined || (failed === 0 && code !== 0)
  return {
    passed: counts.passed,
    failed: crashed ? failed + 1 : failed,
    skipped: counts.skipped + counts.todo,
  }
}

/** Undefined if the file reported its end itself. */
function describeEnd({ counts, ended, running, open }, code, signal, file) {
  const failed = counts && counts.failed + counts.cancelled > 0
  if (ended === undefined && counts !== undefined && (code === 0 || failed)) return {}
  const how = signal === null ? `status ${code}` : signal
  return {
    trouble: [
      `${file}: ${ended ?? `the process ended (${how}) ${counts ? 'after' : 'without'} its summary`}`,
      running.length === 0
        ? 'no test was running'
        : `running:\n${running.map((one) => `  ${one}`).join('\n')}`,
      ...(open ? [`open: ${open.join(', ') || 'nothing'}`] : []),
    ].join('\n'),
  }
}

/**
 * Runs a command in a network namespace of its own. Tests of the lab create interfaces, and Chromium interrupts all requests when an
 * interface of its namespace gets an address: browser tests run at the same time.
 */
const isolation = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const canIsolate =
  process.getuid?.() === 0 && spawnSync(isolation[0], [...isolation.slice(1), 'true']).status === 0

function isolationOf(file) {
  return canIsolate && file.startsWith('lab/') ? isolation : []
}

function argumentsOf(file, testMs) {
  return [
    `--test-timeout=${testMs}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
    file,
  ]
}

/** Compiled code is cached: most files load the same few hundred sources, and several start the product. */
function environmentOf(shard) {
  const { NODE_TEST_CONTEXT: _, PHAROS_TEST_SHARD: __, ...env } = process.env
  env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled')
  return shard ? { ...env, PHAROS_TEST_SHARD: shard } : env
}

function print({ title }, { passed, failed, skipped, seconds, cpuSeconds, trouble, output }, live) {
  if (failed > 0 && !live) process.stdout.write(`\n${Buffer.concat(output)}\n`)
  if (trouble) process.stdout.write(`${trouble}\n`)
  if (live) return
  const counts = `${passed} passed${failed ? `, ${failed} FAILED` : ''}${skipped ? `, ${skipped} skipped` : ''}`
  const cpu = cpuSeconds === undefined ? '' : ` (${cpuSeconds.toFixed(1)} s of processor time)`
  const verdict = `${failed ? 'FAILED' : 'ok    '} ${seconds.toFixed(1).padStart(6)} s`
  process.stdout.write(`${verdict}  ${title}: ${counts}${cpu}\n`)
}

/** Wall seconds per file of an earlier run, for those that took at least 5: they only decide what starts first. */
function readTimes() {
  return JSON.parse(readFileSync(timesFile, 'utf8'))
}

function writeTimes(measured) {
  const long = Object.entries({ ...readTimes(), ...measured }).filter(([, seconds]) => seconds >= 5)
  long.sort(([, a], [, b]) => b - a)
  writeFileSync(timesFile, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`)
}
