// Loaded by run-tests.mjs into every process that runs a test file. Reports which suites and tests begin and end, and the
// counts, as lines of JSON on file descriptor 3. Writes are synchronous: an exit of the process loses none.
import { readFileSync, writeSync } from 'node:fs'

const EVENTS_FD = 3

/** Prints nothing: the readable report is that of the `spec` reporter beside it. */
export default async function* reportEvents(source) {
  for await (const { type, data } of source) {
    if (type === 'test:dequeue') send({ began: titleOf(data), nesting: data.nesting })
    else if (type === 'test:complete') send({ ended: titleOf(data), nesting: data.nesting })
    else if (type === 'test:summary') send({ counts: data.counts, cpuSeconds: cpuSeconds() })
    yield ''
  }
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

/** Processor time of this process and of its children that have ended, in clock ticks of 10 ms; undefined outside Linux. */
function cpuSeconds() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [user, system, usersOfChildren, systemOfChildren] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number)
    return (user + system + usersOfChildren + systemOfChildren) / 100
  } catch {
    return undefined
  }
}

// The runner requests this before it ends a process that hangs. If nothing is open but the runner's own timer, a test waits for
// a promise that nothing can settle.
process.once('SIGUSR2', () => {
  send({ open: process.getActiveResourcesInfo() })
  process.exit(1)
})
