// The Debian packages that tests need as real peers, and their installation. The only list of them.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/**
 * gobgpd and bird2 are the routers, stayrtr is the RPKI cache, bgpq4 the client of the routing registry, iproute2 creates
 * addresses for the lab, chromium opens the portal.
 */
const peerPackages = ['gobgpd', 'bird2', 'stayrtr', 'bgpq4', 'curl', 'jq', 'iproute2', 'chromium']

/** nsd, bind9, knot and pdns-server are name servers, unbound the validating resolver, lego and pebble a client and a server of ACME; the others verify zones and ask questions. */
const dnsPackages = [
  'nsd',
  'bind9',
  'bind9-utils',
  'bind9-dnsutils',
  'knot',
  'knot-dnssecutils',
  'ldnsutils',
  'pdns-server',
  'pdns-backend-sqlite3',
  'unbound',
]

export const debianPackages = [...peerPackages, ...dnsPackages]

/** Further packages of the bench: postgresql contains pgbench, dnsperf asks name servers as fast as they answer. */
export const benchPackages = [...debianPackages, 'postgresql', 'dnsperf']

const POLICY = '/usr/sbin/policy-rc.d'

/** Returns the packages that are not installed; undefined if this is not Debian or a derivative. */
export function missingPackages(names = debianPackages) {
  if (spawnSync('dpkg-query', ['--version']).status !== 0) return undefined
  const list = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n', ...names])
  const installed = new Set(
    list.stdout
      .toString()
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]),
  )
  return names.filter((name) => !installed.has(name))
}

/** Installs them, as root, without starting their services, which could disturb routers of this machine. */
export function installPackages(names) {
  const hasPolicy = existsSync(POLICY)
  if (!hasPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return apt('update') && apt('install', '-y', '--no-install-recommends', ...names)
  } finally {
    if (!hasPolicy) rmSync(POLICY, { force: true })
  }
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 2, 2] }).status === 0
}
