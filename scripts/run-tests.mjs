// Runs test files in a few processes and counts the results. test.mjs chooses the files and prepares their
// dependencies. A failed file is never run again.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = fileURLToPath(new URL('test-process.mjs', import.meta.url))
const reporter = fileURLToPath(new URL('test-reporter.mjs', import.meta.url))
const timesFile = fileURLToPath(new URL('test-times.json', import.meta.url))

/** PHAROS_TEST_SCALE raises the limits together with the repetitions. */
const factor = Math.max(1, Number(process.env.PHAROS_TEST_SCALE ?? 0))
const TEST_TIMEOUT_MS = factor * 10 * 60_000
const FILE_TIMEOUT_MS = factor * 30 * 60_000
/** Time without a running test after which a process counts as hanging: it does not end, or its first hook does not. */
const IDLE_TIMEOUT_MS = 10 * 60_000
/** Time between the request for open handles and SIGKILL. */
const DUMP_MS = 5_000
/**
 * A process with more memory runs no further file: each collection of its garbage would take longer than most tests. Its successor has to
 * load the product again.
 */
const RSS_MIB_MAX = Math.min(1400, Math.max(700, totalmem() / 2 ** 20 / 16))
/** Time for the rest of the output of a process that has ended. */
const OUTPUT_MS = 2_000
/** Parallel processes per core: many files mostly wait for daemons and timers. */
const LANES_PER_CORE = 3
/** Seconds assumed for a file without an entry in the table. */
const DEFAULT_SECONDS = 1

/**
 * Files that need a separate process: files that control a browser or a network, that end processes or change the whole
 * process (signals, the environment, the collector of garbage), and files that load no product.
 */
const alone = [
  /^(?:bench|dist|lab|portal\/test|scripts)\//,
  /^server\/src\/dns\/sign\/sign-in-thread/,
  // Builds 100 tables of 64 MB: each is followed by a collection of the garbage of the whole process.
  /^server\/src\/collector\/flow-owners/,
]

const defaultLimits = {
  testMs: TEST_TIMEOUT_MS,
  fileMs: FILE_TIMEOUT_MS,
  idleMs: IDLE_TIMEOUT_MS,
  dumpMs: DUMP_MS,
}

/**
 * Resolves with the counts of all files. Cancelled tests, and files that end without a result, count as failed. A
 * single file prints its report while it runs; of several, only failed ones print it, and all failures are listed
 * again at the end: a log that is cut in the middle still names them. With `waits: [isWaiting,
 * promise]`, the files of the predicate start after the promise.
 */
export async function runTests(files, options = {}) {
  const lanes = options.lanes ?? LANES_PER_CORE * availableParallelism()
  const limits = { ...defaultLimits, ...options.limits }
  const times = readTimes()
  const secondsOf = (file) => times[file] ?? DEFAULT_SECONDS
  const sorted = [...files].sort((a, b) => secondsOf(b) - secondsOf(a))
  const wait = startWait(options.waits)
  const queueOf = (files) => () => takeFile(files, wait)
  const run = {
    queues: {
      alone: queueOf(sorted.filter(isAlone)),
      shared: queueOf(sorted.filter((file) => !isAlone(file))),
    },
    limits,
    live: files.length === 1,
    total: { passed: 0, failed: 0, skipped: 0 },
    measured: {},
    failures: [],
  }
  const kinds = Array.from({ length: Math.min(lanes, files.length) }, (_, at) =>
    at % 2 === 0 ? 'shared' : 'alone',
  )
  await Promise.all(kinds.map((kind) => runLane(run, kind)))
  if (process.env.PHAROS_TEST_TIMES) writeTimes(run.measured)
  for (const failure of run.live ? [] : run.failures) process.stdout.write(`failed: ${failure}\n`)
  return run.total
}

const isAlone = (file) => alone.some((pattern) => pattern.test(file))

function startWait([isWaiting, promise] = [() => false, Promise.resolve()]) {
  const wait = { isWaiting, end: promise }
  void promise.then(() => (wait.isWaiting = () => false))
  return wait
}

/** Removes the first file that may start from the queue, and returns it; undefined if the queue is empty. */
async function takeFile(files, wait) {
  const at = files.findIndex((file) => !wait.isWaiting(file))
  if (at >= 0) return files.splice(at, 1)[0]
  if (files.length === 0) return undefined
  await wait.end
  return files.shift()
}

/**
 * Half of the lanes begin with files that share a process, the others with separate files; each ends with the remaining
 * files.
 */
async function runLane(run, first) {
  const { alone, shared } = run.queues
  const runAlone = async () => {
    for (let file = await alone(); file !== undefined; file = await alone()) {
      const child = new TestProcess(run, isolationOf(file))
      await child.runFile(file)
      await child.end()
    }
  }
  const runShared = async () => {
    let child
    for (let file = await shared(); file !== undefined; file = await shared()) {
      child ??= new TestProcess(run, [])
      await child.runFile(file)
      if (child.isGrown || !child.isRunning) {
        await child.end()
        child = undefined
      }
    }
    await child?.end()
  }
  for (const work of first === 'shared' ? [runShared, runAlone] : [runAlone, runShared]) await work()
}

const processes = new Set()
// A test process that gets a signal ends the daemons that it started; a killed process leaves them running.
process.once('exit', () => processes.forEach((child) => child.kill('SIGUSR2')))
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => process.exit(status))

/** A process that runs one file after the other. */
class TestProcess {
  #run
  #child
  #exit
  #output = []
  #running = []
  #notes = []
  #open
  #ended
  #cpuSeconds = 0
  #failed = 0
  #rssMib = 0
  #settle = () => {}

  constructor(run, isolation) {
    this.#run = run
    const [command, ...words] = [...isolation, process.execPath, ...argumentsOf(run)]
    const out = run.live ? 'inherit' : 'pipe'
    const child = spawn(command, words, { env: environment(), stdio: ['ignore', out, out, 'pipe', 'ipc'] })
    this.#child = child
    this.#exit = exitOf(child)
    processes.add(child)
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => this.#output.push(chunk))
    createInterface({ input: child.stdio[3] }).on('line', (line) => this.#apply(JSON.parse(line)))
    void this.#forget()
  }

  get isGrown() {
    return this.#rssMib > RSS_MIB_MAX
  }

  get isRunning() {
    return this.#ended === undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  async #forget() {
    await this.#exit
    processes.delete(this.#child)
    this.#settle(undefined)
  }

  /** Runs a file, adds its counts to the run's, and prints its line. */
  async runFile(file) {
    const { live, limits, total, measured, failures } = this.#run
    const start = performance.now()
    this.#output = []
    const timer = setTimeout(() => this.#stop(`not finished after ${limits.fileMs / 1000} s`), limits.fileMs)
    const result = await new Promise((done) => {
      this.#settle = done
      this.#child.send({ file: resolve(file), timeout: limits.fileMs }, () => {})
    })
    clearTimeout(timer)
    const seconds = (performance.now() - start) / 1000
    const counts = result ?? { passed: 0, failed: 1, skipped: 0, failures: [], slow: [] }
    const trouble = result ? undefined : await this.#describeEnd(file, 'without its result')
    const cpuSeconds = result?.cpuSeconds && result.cpuSeconds - this.#cpuSeconds
    this.#cpuSeconds = result?.cpuSeconds ?? 0
    this.#failed += counts.failed
    this.#rssMib = result?.rssMib ?? 0
    for (const key of Object.keys(total)) total[key] += counts[key]
    measured[file] = Math.round(seconds)
    failures.push(
      ...[...counts.failures, ...(trouble ? [trouble] : [])].map((text) => `${file}: ${shorten(text)}`),
    )
    print({ ...counts, file, seconds, cpuSeconds, trouble, output: this.#output, live })
  }

  /** Ends it; resources that keep it open, and failures after the last test, count as failures. */
  async end() {
    const { limits, total, failures } = this.#run
    if (!this.isRunning) return
    this.#child.disconnect()
    const timer = setTimeout(
      () => this.#stop(`no test ran for ${limits.idleMs / 1000} s, and the process did not end`),
      limits.idleMs,
    )
    const [code] = await this.#exit
    clearTimeout(timer)
    if (this.#ended === undefined && (code === 0 || this.#failed > 0)) return
    total.failed += 1
    const trouble = await this.#describeEnd('tests', 'after its last test')
    failures.push(shorten(trouble))
    process.stdout.write(`${Buffer.concat(this.#output)}\n${trouble}\n`)
  }

  #stop(reason) {
    this.#ended ??= reason
    this.#child.kill('SIGUSR2')
    setTimeout(() => this.#child.kill('SIGKILL'), this.#run.limits.dumpMs).unref()
  }

  #apply({ began, ended, nesting, note, open, ...result }) {
    const key = `${'  '.repeat(nesting ?? 0)}${began ?? ended}`
    if (began) this.#running.push(key)
    if (ended && this.#running.includes(key)) this.#running.splice(this.#running.indexOf(key), 1)
    if (note) this.#notes.push(note)
    if (open) this.#open = open
    if (result.file) this.#settle(result)
  }

  async #describeEnd(file, when) {
    const [code, signal] = await this.#exit
    const how = signal === null ? `status ${code}` : signal
    return [
      `${file}: ${this.#ended ?? `the process ended (${how}) ${when}`}`,
      this.#running.length === 0
        ? 'no test was running'
        : `running:\n${this.#running.map((one) => `  ${one}`).join('\n')}`,
      ...this.#notes,
      ...(this.#open ? [`open: ${this.#open.join(', ') || 'nothing'}`] : []),
    ].join('\n')
  }
}

/** The title of a failure and the message of its error. */
const shorten = (text) => text.split('\n').slice(0, 2).join(': ').slice(0, 300)

/** The process itself has ended, even if a program that a test started keeps its output open. */
async function exitOf(child) {
  const streams = child.stdio.slice(1, 4).filter((stream) => stream !== null)
  const ended = Promise.all(streams.map((stream) => once(stream, 'end').catch(() => {})))
  const failed = new Promise((done) => child.once('error', (error) => done([1, error.message])))
  const exit = new Promise((done) => child.once('exit', (...result) => done(result)))
  const result = await Promise.race([exit, failed])
  const waiting = new AbortController()
  await Promise.race([ended, sleep(OUTPUT_MS, undefined, waiting).catch(() => {})])
  waiting.abort()
  for (const stream of streams) stream.destroy()
  return result
}

/**
 * Runs a command in a separate network namespace. Tests of the lab create interfaces, and Chromium interrupts all
 * requests when an interface of its namespace gets an address: browser tests run at the same time.
 */
const isolation = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const canIsolate =
  process.getuid?.() === 0 && spawnSync(isolation[0], [...isolation.slice(1), 'true']).status === 0

function isolationOf(file) {
  return canIsolate && file.startsWith('lab/') ? isolation : []
}

function argumentsOf({ live, limits }) {
  return [
    `--test-timeout=${limits.testMs}`,
    ...(live ? ['--test-reporter=spec', '--test-reporter-destination=stdout'] : []),
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
    program,
  ]
}

/** Compiled code is cached: most processes load the same few hundred sources, and several start the product. */
function environment() {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled')
  return env
}

function print({
  file,
  passed,
  failed,
  skipped,
  failures,
  slow,
  seconds,
  cpuSeconds,
  trouble,
  output,
  live,
}) {
  if (failed > 0 && !live) process.stdout.write(`\n${Buffer.concat(output)}${failures.join('\n\n')}\n`)
  if (trouble) process.stdout.write(`${trouble}\n`)
  if (live) return
  const counts = `${passed} passed${failed ? `, ${failed} FAILED` : ''}${skipped ? `, ${skipped} skipped` : ''}`
  const cpu = cpuSeconds === undefined ? '' : ` (${cpuSeconds.toFixed(1)} s of processor time)`
  const verdict = `${failed ? 'FAILED' : 'ok    '} ${seconds.toFixed(1).padStart(6)} s`
  process.stdout.write(`${verdict}  ${file}: ${counts}${cpu}\n`)
  if (process.env.PHAROS_TEST_TIMES) for (const line of slow) process.stdout.write(`${line}\n`)
}

/** Wall seconds per file of an earlier run, for files of at least 5 s: they only decide the order of starts. */
function readTimes() {
  return JSON.parse(readFileSync(timesFile, 'utf8'))
}

function writeTimes(measured) {
  const long = Object.entries({ ...readTimes(), ...measured }).filter(([, seconds]) => seconds >= 5)
  long.sort(([, a], [, b]) => b - a)
  writeFileSync(timesFile, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`)
}
