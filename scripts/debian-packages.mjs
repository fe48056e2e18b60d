// The Debian packages that tests need as real peers, and their installation.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** The Debian package of each program that the tests, the lab or the bench run: a program that is missing here cannot be run. */
const programs = JSON.parse(readFileSync(new URL('programs.json', import.meta.url), 'utf8'))

/**
 * chromium and PostgreSQL are found by their paths, pdns-backend-sqlite3 is a part of pdns-server. The package postgresql is the version of the
 * release, 15 on Debian 12, and contains pgbench.
 */
const others = ['chromium', 'pdns-backend-sqlite3', 'postgresql']

/** Further packages of the bench: dnsperf asks name servers as fast as they answer. */
const onlyBench = ['dnsperf']

export const benchPackages = [...new Set([...Object.values(programs), ...others, ...onlyBench])]

export const debianPackages = benchPackages.filter((name) => !onlyBench.includes(name))

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
