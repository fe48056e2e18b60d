// `npm test [-- path ...]`: the check, then every test of every workspace but those of the long run; or only the test files
// and folders that are named, without the check. `npm run test:long` has all of them, with ten times as many repetitions.
// The last line is `N passed, N failed, N skipped`, alone. The status is not 0 if anything failed, the check included, or if
// no test ran.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { check } from './check.mjs'
import { debianPackages, installPackages, longPackages, missingPackages } from './debian-packages.mjs'
import { allTests, namedTests, needPortal, shortTests } from './find-tests.mjs'
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
if (named === undefined) installPeers()
// Before any test reads it: otherwise a test could read a partially built one.
if (named === undefined || needPortal(named)) buildPortal()
const checked = named !== undefined || (await check())
const counts = await runTests(named ?? (isLong ? allTests() : shortTests()))
// After named files it keeps running for some seconds: the next run starts at once.
if (named === undefined) {
  const { stopTestServer } = await import('../server/src/db/testing.ts')
  await stopTestServer()
}
if (!checked) process.stdout.write('the check failed: see above\n')
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
process.exitCode = checked && counts.failed === 0 && counts.passed > 0 ? 0 : 1

function findNamed() {
  try {
    return namedTests(paths)
  } catch (error) {
    write(error.message)
    process.exit(2)
  }
}

/** In a process of its own: the build leaves 0.9 GB, which the tests need. */
function buildPortal() {
  const { status } = spawnSync(process.execPath, ['scripts/build-portal.mjs'], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

function installPeers() {
  const missing = missingPackages(isLong ? longPackages : debianPackages)
  if (missing === undefined)
    return write('not a Debian system: tests against real routers need gobgpd and bird2')
  if (missing.length === 0) return
  const command = `apt-get install ${missing.join(' ')}`
  if (process.getuid?.() !== 0)
    return write(`tests against ${missing.join(', ')} will be skipped: ${command}, as root`)
  write(`installing ${missing.join(', ')}`)
  if (!installPackages(missing))
    write(`not all could be installed; tests that need them will be skipped: ${command}`)
}

function write(message) {
  process.stderr.write(`${message}\n`)
}
