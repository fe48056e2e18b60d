// `npm test [-- file ...]`: the check, then every test of every workspace (or the files that are named).
// The last line is `N passed, N failed, N skipped`, alone. The status is not 0 when anything failed, the check
// included, or when no test ran.
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stopTestServer } from '../server/src/db/testing.ts'
import { buildPortal } from './build-portal.mjs'
import { check } from './check.mjs'
import { installPackages, missingPackages } from './debian-packages.mjs'
import { runTests } from './run-tests.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const named = process.argv.slice(2)
// A missing peer skips its tests on a developer's machine; where the result counts it fails them.
if (process.env.CI === 'true') process.env.PHAROS_TEST_REQUIRE_PEERS = '1'
providePeers()
// Before any test looks at it: what a test builds, another would read half written.
await buildPortal()
const checked = named.length > 0 || (await check())
const counts = await runTests(named.length > 0 ? named : findTests())
// After a single file it stays for some seconds: the next run of that file starts at once.
if (named.length === 0) await stopTestServer()
if (!checked) process.stdout.write('the check failed: see above\n')
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
process.exitCode = checked && counts.failed === 0 && counts.passed > 0 ? 0 : 1

function providePeers() {
  const missing = missingPackages()
  if (missing === undefined)
    return say('not a Debian system: tests against real routers need gobgpd and bird2')
  if (missing.length === 0) return
  const command = `apt-get install ${missing.join(' ')}`
  if (process.getuid?.() !== 0)
    return say(`tests against ${missing.join(', ')} will be skipped: ${command}, as root`)
  say(`installing ${missing.join(', ')}`)
  if (!installPackages(missing))
    say(`not all could be installed; tests that need them will be skipped: ${command}`)
}

function say(message) {
  process.stderr.write(`${message}\n`)
}

function findTests() {
  const patterns = ['{contract,server,portal,lab,bench}/**/*.test.ts', 'scripts/*.test.mjs']
  return globSync(patterns, { exclude: ['**/node_modules/**'] }).sort()
}
