// Loaded by run-tests.mjs into every process that runs test files. Reports the begin and end of suites and tests, and
// the result of each file, as lines of JSON on file descriptor 3. Writes are synchronous, so that they survive an exit
// of the process.
import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
import { processorSeconds } from './processor-time.mjs'

const EVENTS_FD = 3
/** Tests that take longer are listed with PHAROS_TEST_TIMES. */
const SLOW_MS = 1_500

/** Has no output. A file is the suite of nesting 0 created by test-process.mjs. */
export default async function* reportEvents(source) {
  let file = emptyResult()
  for await (const { type, data } of source) {
    if (type === 'test:dequeue') send({ began: titleOf(data), nesting: data.nesting })
    else if (type === 'test:complete') send({ ended: titleOf(data), nesting: data.nesting })
    else if (type === 'test:pass' || type === 'test:fail') {
      count(file, type, data)
      if (data.nesting === 0) {
        send({
          file: data.name,
          ...file,
          cpuSeconds: processorSeconds(),
          rssMib: process.memoryUsage.rss() / 2 ** 20,
        })
        file = emptyResult()
      }
    } else if (type === 'test:diagnostic' && data.message.startsWith('Error')) send({ note: data.message })
    yield ''
  }
}

const emptyResult = () => ({ passed: 0, failed: 0, skipped: 0, failures: [], slow: [] })

/** A suite counts only if it fails by itself: it cannot be loaded, or a hook of it fails. */
function count(file, type, data) {
  const isSuite = data.details.type === 'suite'
  if (!isSuite && data.details.duration_ms > SLOW_MS)
    file.slow.push(`${(data.details.duration_ms / 1000).toFixed(1).padStart(15)} s  ${titleOf(data)}`)
  if (data.skip !== undefined || data.todo !== undefined) file.skipped += isSuite ? 0 : 1
  else if (type === 'test:pass') file.passed += isSuite ? 0 : 1
  else if (data.details.error.failureType !== 'subtestsFailed') {
    file.failed += 1
    file.failures.push(`${titleOf(data)}\n${textOf(data.details.error)}`)
  }
}

function textOf(error) {
  const { cause } = error
  return inspect(cause instanceof Error || error.failureType === 'hookFailed' ? cause : error, { depth: 4 })
}

const titleOf = ({ name, line }) => `${name} (line ${line})`

/** Exits once the runner is gone. */
function send(event) {
  try {
    writeSync(EVENTS_FD, `${JSON.stringify(event)}\n`)
  } catch {
    process.exit(1)
  }
}

// The runner requests this before it ends a process that hangs. If only the runner's own timer is open, a test waits
// for a promise that can never settle.
process.once('SIGUSR2', () => {
  send({ open: process.getActiveResourcesInfo() })
  process.exit(1)
})
