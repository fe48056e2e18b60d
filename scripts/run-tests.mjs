// Runs files of tests and counts what became of them. Which files, and what is needed before, is test.mjs's to say.
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

/** The longest takes four minutes on a quiet machine of two cores. */
const FILE_TIMEOUT_MS = 30 * 60_000
const REPEATED_FILES_MAX = 3

/**
 * Runs the tests, and those files once more alone in which something failed, where they are few: a real daemon that was
 * starved for seconds on a busy machine is told from a mistake. What passes then is named, and counted as passed. What a
 * made-up input found is a finding, and is never tried again: see docs/decisions/017.
 */
export async function runUnstableAgain(files) {
  const first = await runTests(files)
  const { failures } = first
  const suspects = [...new Set(failures.map(({ file }) => file))]
  if (suspects.length === 0 || suspects.length > REPEATED_FILES_MAX || failures.some(isFinding)) return first
  process.stdout.write(`running again, alone: ${suspects.join(', ')}\n`)
  const second = await runTests(suspects, 1)
  if (second.failed > 0) return first
  for (const { name, file } of failures)
    process.stdout.write(`UNSTABLE: passed only when it ran again: ${name} (${file})\n`)
  const before = sum(suspects.map((file) => first.byFile.get(file)))
  if (before === undefined) return first
  return {
    passed: first.passed - before.passed + second.passed,
    failed: first.failed - before.failed,
    skipped: first.skipped - before.skipped + second.skipped,
  }
}

/** Found by made-up input: the second run would make up another one. */
function isFinding({ file, message }) {
  return (
    /fuzz|generated-requests|faults|fencing|storm|crash/.test(file) ||
    /Property failed|Counterexample/.test(message)
  )
}

/** Undefined where one is not known. */
function sum(counts) {
  if (counts.includes(undefined)) return undefined
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const one of counts) for (const key of Object.keys(total)) total[key] += one[key]
  return total
}

/** Counts as the runner counts; what was cancelled or never got to run has failed. */
export async function runTests(files, concurrency = Math.max(2, availableParallelism())) {
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [], byFile: new Map() }
  const events = run({ files, concurrency, timeout: FILE_TIMEOUT_MS })
  events.on('test:summary', ({ file, counts: all }) => {
    const summary = {
      passed: all.passed,
      failed: all.failed + all.cancelled,
      skipped: all.skipped + all.todo,
    }
    if (file === undefined) Object.assign(counts, summary)
    else counts.byFile.set(relative(process.cwd(), file), summary)
  })
  events.on('test:fail', ({ name, file, details: { error, type } }) => {
    if (type === 'suite') return
    const message = `${error?.message} ${error?.cause?.message ?? ''}`
    counts.failures.push({ name, file: relative(process.cwd(), file ?? name), message })
  })
  const report = events.compose(new spec())
  report.pipe(process.stdout, { end: false })
  await finished(report)
  return counts
}
