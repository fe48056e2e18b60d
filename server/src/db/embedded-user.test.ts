import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Binaries } from './embedded-binaries.ts'
import { asUser, chooseRunAs } from './embedded-user.ts'

const isRoot = process.getuid?.() === 0
const runs: Binaries = { postgres: '/bin/true', initdb: '', major: '18' }
const fails: Binaries = { ...runs, postgres: '/bin/false' }
const nowhere = '/nonexistent/postgres'

/** `unshare` is found by PATH: an empty PATH simulates a system that does not permit it. */
function withoutUnshare<T>(work: () => T): T {
  const path = process.env.PATH
  process.env.PATH = ''
  try {
    return work()
  } finally {
    process.env.PATH = path
  }
}

describe('the user that PostgreSQL runs as', () => {
  it('is the current user if that is an ordinary user', { skip: isRoot && 'root' }, () => {
    assert.deepEqual(chooseRunAs(nowhere, runs), { kind: 'self' })
  })

  it('is `nobody` if root may not create a namespace', { skip: !isRoot && 'not root' }, () => {
    assert.deepEqual(
      withoutUnshare(() => chooseRunAs(nowhere, runs)),
      { kind: 'uid', uid: 65534, gid: 65534 },
    )
  })

  it('is none if nothing works, and the error contains the solution', { skip: !isRoot && 'not root' }, () => {
    assert.throws(
      () => chooseRunAs(nowhere, fails),
      /does not run as root and this system does not permit `unshare .*Run Pharos as an ordinary user.*DATABASE_URL/,
    )
  })

  it('is prepended or passed to the command', () => {
    assert.deepEqual(asUser({ kind: 'self' }, 'p', ['-D']), { command: 'p', args: ['-D'], options: {} })
    assert.deepEqual(asUser({ kind: 'uid', uid: 1, gid: 2 }, 'p', []).options, { uid: 1, gid: 2 })
    assert.deepEqual(asUser({ kind: 'namespace' }, 'p', ['-D']), {
      command: 'unshare',
      args: ['-U', '--map-user=65534', '--map-group=65534', 'p', '-D'],
      options: {},
    })
  })
})
