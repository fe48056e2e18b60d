// `npm test [-- path ...]`: the check, and beside it every test of every workspace except the long run; or only the
// named test files and folders, without the check. `npm run test:long` runs all of them, with ten times as many
// repetitions. The last line is `N passed, N failed, N skipped`, alone. The status is not 0 after any failure, also of
// the check, or if no test ran.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { check } from './check.mjs'
import { allTests, namedTests, needPortal, shortTests } from './find-tests.mjs'
import { installPeers } from './install-peers.mjs'
import { familySeconds, processorSeconds } from './processor-time.mjs'
import { runTests } from './run-tests.mjs'
import { useTemporaryFolder } from './temporary-folder.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const paths = process.argv.slice(2).filter((word) => word !== '--long')
const isLong = process.argv.includes('--long')
if (isLong) process.env.PHAROS_TEST_SCALE ??= '1'
const named = paths.length > 0 ? findNamed() : undefined
process.chdir(root)
useTemporaryFolder(root, { isWhole: named === undefined })
// A missing peer skips its tests on a developer's machine; in CI it fails them.
if (process.env.CI === 'true') process.env.PHAROS_TEST_REQUIRE_PEERS = '1'
if (named === undefined) installPeers({ isLong })
const files = named ?? (isLong ? allTests() : shortTests())
// Tests that open the portal start after its build: otherwise they could read a partially built one.
const portal = needPortal(files) ? buildPortal() : undefined
const checked = named === undefined ? check({ besideTests: true }) : []
const counts = await runTests(files, { waits: portal && [(file) => needPortal([file]), portal] })
const failedParts = await checked
// After named files it keeps running for some seconds, so that the next run starts without delay.
if (named === undefined) await stopTestServer()
if (failedParts.length > 0) process.stdout.write(`the check failed: ${failedParts.join('; ')}\n`)
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
process.exitCode = failedParts.length === 0 && counts.failed === 0 && counts.passed > 0 ? 0 : 1

/** Prints the processor time of the run; the server belongs to no process of it. */
async function stopTestServer() {
  const testing = await import('../server/src/db/testing.ts')
  const server = familySeconds(testing.testServerPid()) ?? 0
  await testing.stopTestServer()
  const total = server + (processorSeconds() ?? 0)
  write(`${Math.round(total)} s of processor time, of which PostgreSQL ${Math.round(server)} s`)
}

function findNamed() {
  try {
    return namedTests(paths)
  } catch (error) {
    write(error.message)
    process.exit(2)
  }
}

/** In a separate process: the build leaves 0.9 GB, which the tests need. */
async function buildPortal() {
  const child = spawn(process.execPath, ['scripts/build-portal.mjs'], { stdio: 'inherit' })
  const [status] = await once(child, 'exit')
  if (status !== 0) process.exit(1)
}

function write(message) {
  process.stderr.write(`${message}\n`)
}
