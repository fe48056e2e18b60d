// The Debian packages that tests want as real peers, and how they get onto a machine. The one list of them.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/**
 * gobgpd and bird2 are the routers, stayrtr is the RPKI cache, nsd the name server, bgpq4 asks the routing registry,
 * iproute2 makes addresses for the lab, chromium looks at the portal.
 */
export const debianPackages = ['gobgpd', 'bird2', 'stayrtr', 'nsd', 'bgpq4', 'curl', 'iproute2', 'chromium']

/** What the bench wants beside them: postgresql brings pgbench. */
export const benchPackages = [...debianPackages, 'postgresql']

const POLICY = '/usr/sbin/policy-rc.d'

/** Those of the names that are not installed; undefined where this is not Debian or one of its children. */
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

/** Installs them, as root, without starting their services: a router of this machine is not ours to start. */
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
