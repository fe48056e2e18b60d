import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { allTests, namedTests, needPortal } from './find-tests.mjs'

const root = mkdtempSync(join(tmpdir(), 'pharos-find-'))
after(() => rmSync(root, { recursive: true }))
const files = [
  'contract/src/a.test.ts',
  'portal/test/page.test.ts',
  'scripts/run.test.mjs',
  'server/src/net/asn.test.ts',
  'server/src/net/prefix.test.ts',
]
for (const file of [...files, 'server/src/net/prefix.ts', 'server/node_modules/x/y.test.ts']) {
  mkdirSync(join(root, dirname(file)), { recursive: true })
  writeFileSync(join(root, file), '')
}
mkdirSync(join(root, 'server/src/empty'))
const named = (...paths) => namedTests(paths, root)

describe('the tests of a run', () => {
  it('are all of them by default, without those of packages', () => assert.deepEqual(allTests(root), files))

  it('are the named files, each once', () =>
    assert.deepEqual(named('contract/src/a.test.ts', 'scripts/run.test.mjs', 'contract/src/a.test.ts'), [
      'contract/src/a.test.ts',
      'scripts/run.test.mjs',
    ]))

  it('are those below a named folder', () => {
    assert.deepEqual(named('server/src/net'), files.slice(3))
    assert.deepEqual(named('server/src/net/'), files.slice(3))
    assert.deepEqual(named(join(root, 'portal')), ['portal/test/page.test.ts'])
  })

  it('need the portal if they open it', () => {
    assert.equal(needPortal(['server/src/net/asn.test.ts']), false)
    assert.equal(needPortal(['server/src/net/asn.test.ts', 'portal/test/page.test.ts']), true)
  })
})

describe('a path without tests', () => {
  it('is an error with similar names', () =>
    assert.throws(() => named('server/src/prefix.test.ts', 'server/src/net/asn.test.ts'), {
      message:
        'server/src/prefix.test.ts: no such file or folder\n  did you mean server/src/net/prefix.test.ts?',
    }))

  it('is an error if it exists', () =>
    assert.throws(() => named('server/src/empty', 'server/src/net/prefix.ts'), {
      message:
        'server/src/empty: no test file (*.test.ts) there\n' +
        'server/src/net/prefix.ts: no test file (*.test.ts) there',
    }))

  it('is an error if it is an option', () =>
    assert.throws(() => named('--watch'), /^Error: --watch: options are not accepted/))
})
