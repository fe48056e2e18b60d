// The Debian packages that tests need as real peers, and their installation.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** The Debian package of each program that the tests, the lab or the bench run: a program that is missing here cannot be run. */
const programs = JSON.parse(readFileSync(new URL('programs.json', import.meta.url), 'utf8'))

/**
 * Chromium and PostgreSQL are found by their paths, pdns-backend-sqlite3 is a part of pdns-server. The package postgresql is the version of the
 * release, 15 on Debian 12, and contains pgbench.
 */
const others = ['chromium-headless-shell', 'pdns-backend-sqlite3', 'postgresql']

/** dnsperf queries name servers as fast as they answer. */
const onlyBench = ['dnsperf']

/**
 * The cluster of PostgreSQL of lab/src/ha-postgres.ts, the backups of lab/src/backed-up-postgres.ts, and two identity providers. The package of LemonLDAP::NG
 * depends on few of the modules without which it does not start.
 */
const onlyLong = [
  'etcd-server',
  'libgd-securityimage-perl',
  'libimage-magick-perl',
  'liblasso-perl',
  'liblemonldap-ng-portal-perl',
  'libstring-random-perl',
  'libxml-simple-perl',
  'patroni',
  'pgbackrest',
  'php-cli',
  'php-mbstring',
  'php-xml',
  'simplesamlphp',
]

const all = [...new Set([...Object.values(programs), ...others, ...onlyBench, ...onlyLong])]
const without = (...names) => all.filter((name) => !names.includes(name))

export const benchPackages = without(...onlyLong)

export const debianPackages = without(...onlyBench, ...onlyLong)

/** Packages of the long run. */
export const longPackages = without(...onlyBench)

const POLICY = '/usr/sbin/policy-rc.d'

/** Returns the packages that are not installed; undefined if this is not Debian or a derivative. */
export function missingPackages(names) {
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
    // Leftovers of an interrupted installation would stop this one.
    spawnSync('dpkg', ['--configure', '-a'], { stdio: ['ignore', 2, 2] })
    return apt('update') && apt('install', '-y', '--no-install-recommends', ...names)
  } finally {
    if (!hasPolicy) rmSync(POLICY, { force: true })
  }
}

/** Longer than an upgrade of a slow machine. */
const LOCK_TIMEOUT_MS = 15 * 60_000
const LOCK_RETRY_MS = 1_000
/**
 * apt-get can wait for the lock of dpkg, but never for the locks of its lists and archives: it exits with this error.
 */
const LOCKED = /^E: Could not get lock (\S+)\. (.*)$/m

/** Runs apt-get and waits as long as another program has locked its files. Returns whether it was successful. */
export function apt(...args) {
  const options = ['-qq', '-o', `DPkg::Lock::Timeout=${LOCK_TIMEOUT_MS / 1000}`]
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }
  const end = performance.now() + LOCK_TIMEOUT_MS
  for (let isFirst = true; ; isFirst = false) {
    const { status, stderr } = spawnSync('apt-get', [...options, ...args], {
      env,
      stdio: ['ignore', 2, 'pipe'],
    })
    const [, file, holder] = LOCKED.exec(String(stderr)) ?? []
    if (file === undefined || performance.now() > end) {
      process.stderr.write(String(stderr))
      return status === 0
    }
    if (isFirst) process.stderr.write(`apt-get waits for the lock ${file}. ${holder}\n`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS)
  }
}
