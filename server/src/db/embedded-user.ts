// Decides which user runs PostgreSQL. It refuses to run as root, and initdb refuses a user id without a name, yet Pharos must start
// as root, as a user, and as a container's bare user id. It must not create users or change their rights.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Binaries } from './embedded-binaries.ts'

/**
 * - `self`: the current user.
 * - `namespace`: in a user namespace in which our id is called `nobody`; files stay ours. Tried: `initdb` in a folder
 *   under a 0700 home works so, while changing to another user does not.
 * - `uid`: Pharos is root and changes to that user, which must be able to reach the binaries and the data directory.
 */
export type RunAs =
  | { readonly kind: 'self' }
  | { readonly kind: 'namespace' }
  | { readonly kind: 'uid'; readonly uid: number; readonly gid: number }

/** The id of `nobody`: the one unprivileged id that every system gives a name. */
const NOBODY = 65534

const NAMESPACE = ['-U', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]

/** Chooses for a data directory that may not exist yet; runs `postgres --version` to test whether a way works. */
export function chooseRunAs(dataDir: string, binaries: Binaries): RunAs {
  const uid = process.getuid?.()
  if (uid === undefined || (uid !== 0 && hasName())) return { kind: 'self' }
  if (uid === 0) {
    const owner = statSync(dataDir, { throwIfNoEntry: false })
    if (owner !== undefined && owner.uid !== 0) return { kind: 'uid', uid: owner.uid, gid: owner.gid }
  }
  if (works({ kind: 'namespace' }, binaries)) return { kind: 'namespace' }
  const nobody: RunAs = { kind: 'uid', uid: NOBODY, gid: NOBODY }
  if (uid === 0 && works(nobody, binaries)) return nobody
  throw new Error(
    `PostgreSQL does not run as ${uid === 0 ? 'root' : `user id ${uid}, which has no name,`} and this system does ` +
      `not permit \`unshare ${NAMESPACE.join(' ')}\` (package util-linux; a container may need ` +
      '--security-opt seccomp=unconfined). Run Pharos as an ordinary user that can read its folder, permit ' +
      'user namespaces, or set DATABASE_URL to a PostgreSQL 15 or later.',
  )
}

/** The command line and spawn options that run `program` as chosen. */
export function asUser(
  runAs: RunAs,
  program: string,
  args: readonly string[],
): { command: string; args: string[]; options: { uid?: number; gid?: number } } {
  if (runAs.kind === 'namespace') {
    return { command: 'unshare', args: [...NAMESPACE, program, ...args], options: {} }
  }
  if (runAs.kind === 'uid') {
    return { command: program, args: [...args], options: { uid: runAs.uid, gid: runAs.gid } }
  }
  return { command: program, args: [...args], options: {} }
}

function works(runAs: RunAs, { postgres }: Binaries): boolean {
  const { command, args, options } = asUser(runAs, postgres, ['--version'])
  const result = spawnSync(command, args, {
    ...options,
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: 'ignore',
    timeout: 10_000,
  })
  return result.status === 0
}

function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}
