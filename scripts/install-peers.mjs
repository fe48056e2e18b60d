// Installs the Debian packages of the tests' real peers if they are missing: `node scripts/install-peers.mjs [--long]`.
// It imports no installed packages, so it runs beside `npm ci`.
import { debianPackages, installPackages, longPackages, missingPackages } from './debian-packages.mjs'

/** Without the rights or outside Debian it prints the tests that will be skipped. */
export function installPeers({ isLong }) {
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

if (process.argv[1]?.endsWith('install-peers.mjs')) installPeers({ isLong: process.argv.includes('--long') })
